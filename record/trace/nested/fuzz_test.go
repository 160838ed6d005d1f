package nested_test

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// FuzzJoin joins whatever two sides have written: no call is joined to two tool calls, and
// none is returned twice.
func FuzzJoin(f *testing.F) {
	f.Add(head+prompt("1s", "2")+call("1.1s", "1.4s", "a", `,"title":"everything_echo"`)+answered("2s", "2"), asks("1.2s", "1.3s", "1", `"name":"echo","_meta":{"x":"a"}`, "hi"))
	f.Add(hello+`> [{"id":1,"method":"session/new","params":{"mcpServers":[{"args":["--parent"]},{"url":"http://127.0.0.1:1"},7]}}]`, `> [{"id":1,"method":"tools/call"},{"id":1,"method":"tools/call"}]`)
	f.Fuzz(func(t *testing.T, agent, server string) {
		if len(agent)+len(server) > 16<<10 {
			return
		}
		j, tr := &nested.Join{}, &trace.Trace{}
		tr.Next(dialect.Connection{})
		j.Next("agent", start)
		for _, f := range anyFrames(agent) {
			tr.Add(&f)
			j.Take(&f, tr)
		}
		tape := &nested.Tape{ID: "t", Parent: "agent", Link: "aaaaaaaa", Server: "everything", Start: start}
		j.Nested(tape)
		for _, f := range anyFrames(server) {
			tape.Add(&f)
		}
		j.End()
		tape.End()
		for _, s := range tr.Sessions {
			for _, u := range j.Uncalled(false, s.ID) {
				if u.Server == tape.Server && len(tape.Calls) > 0 && len(j.Servers(s.ID)) > 0 {
					t.Errorf("%s was called, and is told as %s", u.Server, &u)
				}
			}
		}
		seen := map[*nested.Call]bool{}
		for _, s := range tr.Sessions {
			for _, e := range s.Conversation.Entities {
				for _, c := range j.Of(e) {
					if seen[c.Call] {
						t.Errorf("the call of frame %d is told twice", c.Request)
					}
					seen[c.Call] = true
				}
				if e.ToolCall != nil {
					j.Missing(s.ID, e)
				}
			}
		}
	})
}

// anyFrames is frames for lines that may be anything.
func anyFrames(text string) []dialect.Frame {
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	var list []dialect.Frame
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) < 3 {
			continue
		}
		f := wire.Frame{Seq: uint64(len(list) + 1), At: time.Duration(len(list)) * 10 * time.Millisecond}
		if line[0] == '<' {
			f.Dir = wire.AgentToClient
		}
		f.Origin = wire.Origin(max(strings.IndexByte(" -+~", line[1]), 0))
		f.Raw = []byte(line[2:])
		f.Size = int64(len(f.Raw))
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		a, _ := tracker.Observe(&f, e)
		list = append(list, dialect.Frame{Frame: f, Annotation: a})
	}
	return list
}
