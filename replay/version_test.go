package replay_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A client can talk to the agent of a tape if it offers the recorded version, or one no older
// than the agreed one, which may differ from it.
func TestVersions(t *testing.T) {
	const offer, answer = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%s}}`, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%s}}`
	for _, tt := range []struct {
		offered, agreed, now string
		ok                   bool
	}{
		{`"2024-11-05"`, `"2025-03-26"`, `"2024-11-05"`, true},
		{`"2024-11-05"`, `"2025-03-26"`, `"2025-03-26"`, true},
		{`"2024-11-05"`, `"2025-03-26"`, `"2025-11-25"`, true},
		{`"2024-11-05"`, `"2025-03-26"`, `"2024-10-07"`, false},
		{`"2025-11-25"`, `"2025-06-18"`, `"2025-06-18"`, true},
		{`"2025-11-25"`, `"2025-06-18"`, `"2025-03-26"`, false},
		{`1`, `2`, `1`, true},
		{`2`, `1`, `1`, true},
		{`2`, `2`, `1`, false},
	} {
		tape := replaytest.Tape(t, "c "+fmt.Sprintf(offer, tt.offered)+"\na "+fmt.Sprintf(answer, tt.agreed))
		agent := replay.Agent{Tapes: []*record.Tape{tape}}
		report, err := agent.Run(t.Context(), strings.NewReader(fmt.Sprintf(offer, tt.now)+"\n"), io.Discard, io.Discard)
		if (err == nil) != tt.ok {
			t.Errorf("%s was offered and %s agreed on; with %s: got %v\n%s", tt.offered, tt.agreed, tt.now, err, &report)
		}
	}
}
