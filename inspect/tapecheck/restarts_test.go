package tapecheck_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

const (
	acpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"
	mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"
	acpTurn  = acpHello + `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n"
)

// Three runs of one ACP agent, one after the other and without a turn, are restarts. Runs
// of other commands may lie in between.
func TestRestarts(t *testing.T) {
	type run struct{ command, says string }
	lazy := run{"lazy", acpHello}
	tests := []struct {
		name    string
		runs    []run
		overlap bool // all run until the end
		want    string
	}{
		{name: "two", runs: []run{lazy, lazy}},
		{name: "three", runs: []run{lazy, lazy, lazy}, want: "started 3 times in "},
		{name: "others between", runs: []run{lazy, {"other", acpHello}, lazy, {"server", mcpHello}, lazy}, want: "started 3 times in "},
		{name: "twelve", runs: []run{lazy, lazy, lazy, lazy, lazy, lazy, lazy, lazy, lazy, lazy, lazy, lazy}, want: "started 12 times in "},
		{name: "side by side", runs: []run{lazy, lazy, lazy}, overlap: true},
		{name: "an MCP server", runs: []run{{"lazy", mcpHello}, {"lazy", mcpHello}, {"lazy", mcpHello}}},
		{name: "silent", runs: []run{{"lazy", ""}, {"lazy", ""}, {"lazy", ""}}},
		{name: "other arguments", runs: []run{{"lazy a", acpHello}, {"lazy b", acpHello}, lazy}},
		{name: "a turn", runs: []run{lazy, {"lazy", acpTurn}, lazy, lazy}},
		{name: "a turn at last", runs: []run{lazy, lazy, {"lazy", acpTurn}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			var open []*record.Recorder
			for _, one := range tt.runs {
				j := recordtest.Record(t, store, record.Start{Command: strings.Fields(one.command)})
				if err := j.Append(wire.ClientToAgent, wire.Wire, []byte(one.says)); err != nil {
					t.Fatal(err)
				}
				if open = append(open, j); !tt.overlap {
					j.Close()
					j.Wait()
				}
			}
			for _, j := range open {
				if tt.overlap {
					if err := j.Append(wire.AgentToClient, wire.Wire, []byte(`{"jsonrpc":"2.0","method":"_late"}`+"\n")); err != nil {
						t.Fatal(err)
					}
				}
				j.Close()
				j.Wait()
			}
			tape, err := store.Open(open[len(open)-1].Tape())
			if err != nil {
				t.Fatal(err)
			}
			parts, err := reading.Agents(tape)
			if err != nil {
				t.Fatal(err)
			}
			parts[0].Store = store
			j := tapecheck.NewJudge(tapecheck.Options(parts...))
			if err := j.Begin(&parts[0]); err != nil {
				t.Fatal(err)
			}
			if err := j.End(); err != nil {
				t.Fatal(err)
			}
			var got string
			for _, f := range j.New() {
				if f.Rule == report.Watch {
					got += f.Text
				}
			}
			if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
