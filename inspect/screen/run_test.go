package screen_test

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// A run is a tape that is being recorded.
type run struct {
	t *testing.T
	*record.Recorder
}

// begin begins to record an agent. Whoever calls it ends the run.
func begin(t *testing.T, store *record.Store, agent, cwd string) run {
	t.Helper()
	j := recordtest.Record(t, store, record.Start{Command: []string{agent}, Cwd: cwd})
	return run{t, j}
}

// says sends a line.
func (r run) says(dir wire.Direction, line string) {
	r.t.Helper()
	if err := r.Append(dir, wire.Wire, []byte(line+"\n")); err != nil {
		r.t.Fatal(err)
	}
}

// prompts sends a prompt.
func (r run) prompts(text string) {
	r.t.Helper()
	r.says(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%q}]}}`, text))
}

// ends ends the recording.
func (r run) ends() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
	r.Wait()
}
