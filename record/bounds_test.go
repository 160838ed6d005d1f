package record

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// All requests that a tape may have open go on in the next block.
func TestOpenRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("15 to 29 s under the race detector, and no second goroutine")
	}
	const open = 1 << 16
	d := newDissector(Info{Start: Start{Proto: "acp"}})
	take := func(dir wire.Direction, line string) {
		r := journal.Positioned{Record: journal.Record{Dir: dir, Payload: []byte(line), Offset: uint32(d.Offsets[dir])}, Next: d.Position + 1}
		for !d.record(r) {
			d.next()
		}
	}
	for n := range open {
		take(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":"0fd1c0de-%04x-4b6d-9c0e-5f3a1e7d%04x","method":"session/prompt","params":{"sessionId":"0fd1c0de-8f0e-4b6d-9c0e-5f3a1e7d%04x","prompt":[]}}`+"\n", n, n, n))
	}
	state, err := d.state()
	if err != nil || len(state) > maxState {
		t.Fatalf("the state takes %d bytes: %v", len(state), err)
	}
	if d, err = restoreDissector(state); err != nil {
		t.Fatal(err)
	}
	take(wire.AgentToClient, `{"jsonrpc":"2.0","id":"0fd1c0de-0000-4b6d-9c0e-5f3a1e7d0000","result":{}}`+"\n")
	if last := d.build.entries[len(d.build.entries)-1]; last.Request != 1 {
		t.Errorf("the answer is %+v, want one to frame 1; the state takes %d bytes", last, len(state))
	}
	t.Logf("%d bytes for each", len(state)/open)
}

// A state may say that more is open than can be, in few bytes for each.
func TestImpossibleStates(t *testing.T) {
	if testing.Short() {
		t.Skip("15 to 29 s under the race detector, and no second goroutine")
	}
	d := newDissector(Info{Tape: "20260102T150405000-aaaaaa"})
	good, err := d.state()
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(good), `"Tracker":`)
	many := func(begin, one, end string, n int) string {
		return begin + one + strings.Repeat(","+one, n) + end
	}
	calls := base64.StdEncoding.EncodeToString([]byte(many(`{"calls":[`, "{}", "]}", 8<<20)))
	servers := base64.StdEncoding.EncodeToString([]byte(many(`{"calls":[{"value":{"client":{"servers":[`, `""`, "]}}}]}", 8<<20)))
	for name, state := range map[string]string{
		"calls":     head + `"Tracker":"` + calls + `"}`,
		"servers":   head + `"Tracker":"` + servers + `"}`,
		"arguments": strings.Replace(string(good), `"start":{`, `"start":{"command":`+many("[", `""`, "]", 12<<20)+",", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if len(state) > maxState || len(state) < 16<<20 {
				t.Fatalf("the state takes %d bytes", len(state))
			}
			memtest.Bound(t, func() {
				if _, err := restoreDissector([]byte(state)); !errors.Is(err, ErrDamaged) {
					t.Errorf("got %v, want damage", err)
				}
			})
		})
	}
}

// The longest frames that are searched for secrets take no more memory than
// others, whatever is in them.
func TestLongestRedacted(t *testing.T) {
	if testing.Short() {
		t.Skip("15 to 29 s under the race detector, and no second goroutine")
	}
	for name, unit := range map[string]string{
		"secrets":    "API_KEY=sk-ant-0123456789abcdefghijklmnop\n",
		"characters": "<",
		"variables":  "",
	} {
		t.Run(name, func(t *testing.T) {
			quoted := termtext.AppendInQuotes(nil, []byte(unit))
			frame := `{"method":"x","params":"` + strings.Repeat(string(quoted), (redact.MaxSize-100)/max(1, len(quoted))) + `"}`
			if unit == "" {
				frame = `[` + strings.Repeat(`{"env":{"a":"b","c":"d"}},`, redact.MaxSize/30) + `0]`
			}
			tape, err := ReadPortable(strings.NewReader(`{"dir":"a2c","frame":`+frame+"}\n"), "file")
			if err != nil {
				t.Fatal(err)
			}
			for f, err := range tape.Frames(1) {
				if err != nil || f.Size != int64(len(frame)) {
					t.Fatalf("a frame of %d bytes: %v", f.Size, err)
				}
				e, err := portable.NewExporter(io.Discard, portable.Head{}, redact.NewRedaction(nil))
				if err != nil {
					t.Fatal(err)
				}
				memtest.Bound(t, func() { err = e.Write(tape, f) })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}
