// Command types checks that the packages of the module, with their tests, have no type
// errors on the system that GOOS and GOARCH name. Unlike go vet it compiles none of what
// they import, which on a new machine takes over a minute for each system.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	found, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
}
