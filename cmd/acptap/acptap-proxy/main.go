// Command acptap-proxy is acptap proxy and nothing else: the small program that an editor
// starts for each of its agents and servers, and an agent for each of its servers.
package main

import (
	"context"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
)

func main() {
	args := os.Args[1:]
	os.Exit(cli.Run(context.Background(), tap.NewProgram(args), args, os.Stdin, os.Stdout, os.Stderr))
}
