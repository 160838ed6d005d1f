// Command acptap-lake is the second program of acptap: what talks to object storage, which
// takes much code that no proxy needs when it starts. acptap finds it and starts it; its
// commands have their help in acptap.
package main

import (
	"context"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/lake/program"
)

func main() {
	os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
