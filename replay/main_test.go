package replay_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// The test binary is the agent too: told so by its arguments it plays a part.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], "role:"); ok {
			parts[name](os.Args[2:])
			return
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each agent takes a second to exit
	m.Run()
}

// part returns the command of an agent that plays a part.
func part(name string, args ...string) record.Start {
	return record.Start{Command: append([]string{os.Args[0], "role:" + name}, args...)}
}

var parts = map[string]func(args []string){
	// tape PATH [SESSION]: the agent of a tape.
	"tape": func(args []string) {
		tape, err := record.OpenFile(args[0])
		if err != nil {
			panic(err)
		}
		agent := replay.Agent{Tapes: []*record.Tape{tape}}
		if len(args) > 1 {
			agent.Session = args[1]
		}
		report, err := agent.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
		fmt.Fprint(os.Stderr, report.String(), err)
	},
	"asking":  asking,
	"canned":  canned,
	"cleaner": cleaner,
	"echo":    echo,
	"reader":  reader,
	"moody":   moody,
	"patient": patient,
	"sdk":     sdkAgent,
	"keyed":   keyed,
}
