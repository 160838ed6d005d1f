// Command acptap-lake is the part of acptap that talks to object storage. It is a
// separate program because it links a lot of code that would slow down the start of a
// proxy. acptap finds and starts it, and contains the help of its commands.
package main

import (
	"context"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/lake/program"
)

func main() {
	os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
