// Command acptap-proxy is acptap proxy and nothing else: a small program, because editors
// start one for each agent and server, and agents start one for each of their servers.
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
