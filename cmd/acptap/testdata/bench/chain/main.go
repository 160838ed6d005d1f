// Command chain is acptap proxy with interceptors that change nothing: the first
// argument says which, with a comma between, the second is the directory of the
// store, and the rest is the agent's command.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

func main() {
	debug.SetGCPercent(30) // as acptap proxy
	var chain []proxy.Interceptor
	for name := range strings.SplitSeq(os.Args[1], ",") {
		switch name {
		case "idle":
			chain = append(chain, idle{})
		case "looking":
			chain = append(chain, looking{})
		}
	}
	command := os.Args[3:]
	journal, err := record.OpenStore(os.Args[2]).Record(record.Start{Command: command, Name: "agent"})
	if err == nil {
		err = (&proxy.Proxy{Command: command, Journal: journal, Interceptors: chain}).Run(context.Background())
		journal.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A looking interceptor sees every frame.
type looking struct{}

func (looking) Start(proxy.Handle)                                    {}
func (looking) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame { return append(out, f) }
func (looking) Held() []wire.Frame                                    { return nil }
func (looking) End(_ wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	return out, nil
}

// An idle one sees none.
type idle struct{ looking }

func (idle) Wants(wire.Direction) bool { return false }
