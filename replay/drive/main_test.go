package drive_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

var roles = map[string]func(args []string){
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
	"canned":  canned,
	"cleaner": cleaner,
	"reader":  reader,
	"moody":   moody,
	"patient": patient,
	"sdk":     sdkAgent,
	"keyed":   keyed,
}

func TestMain(m *testing.M) { replaytest.Main(m, roles) }
