package trace_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// tape makes frames from lines. A line begins with > if the client wrote it, with < if the
// agent did; then with - or ~ or + if it was withheld, put in place of a withheld one, or
// injected; then with the stream as #1, if any. Frames are 10 ms apart; after a line such
// as @2s they come 2 s after the beginning, and after @? their times are unknown.
func tape(tb testing.TB, text string) []dialect.Frame {
	tb.Helper()
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	var frames []dialect.Frame
	now, untimed := time.Duration(-1), false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if at, ok := strings.CutPrefix(line, "@"); ok {
			if untimed = at == "?"; !untimed {
				now = duration(tb, at)
			}
			continue
		}
		f := wire.Frame{Seq: uint64(len(frames) + 1), At: time.Duration(len(frames)+1) * 10 * time.Millisecond, Untimed: untimed}
		if now >= 0 {
			f.At = now
		}
		switch line[0] {
		case '>':
			f.Dir = wire.ClientToAgent
		case '<':
			f.Dir = wire.AgentToClient
		default:
			tb.Fatalf("line %.80q has no direction", line)
		}
		switch line[1] {
		case '-':
			f.Origin = wire.Withheld
		case '~':
			f.Origin = wire.Rewritten
		case '+':
			f.Origin = wire.Injected
		}
		line = strings.TrimLeft(line, "<>-~+ ")
		if after, ok := strings.CutPrefix(line, "#"); ok {
			number, rest, _ := strings.Cut(after, " ")
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			f.Stream, line = n, rest
		}
		f.Raw = []byte(line)
		f.Size = int64(len(f.Raw))
		e := wire.Scan(f.Raw)
		f.Kind, f.Failed = e.Kind, e.Error != nil
		if f.Kind == wire.Invalid {
			tb.Fatalf("line %.80q is no message", line)
		}
		about, _ := tracker.Observe(&f, e)
		frames = append(frames, dialect.Frame{Frame: f, Annotation: about})
	}
	return frames
}

func duration(tb testing.TB, text string) time.Duration {
	tb.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// build traces tapes one after the other.
func build(tb testing.TB, tapes ...string) *trace.Trace {
	tb.Helper()
	var t trace.Trace
	for _, text := range tapes {
		t.Next(dialect.Connection{})
		for _, f := range tape(tb, text) {
			t.Add(&f)
		}
	}
	return &t
}

// session returns the session with the id.
func session(tb testing.TB, t *trace.Trace, id string) *trace.Session {
	tb.Helper()
	for _, s := range t.Sessions {
		if s.ID == id {
			return s
		}
	}
	tb.Fatalf("no session %q among %d", id, len(t.Sessions))
	return nil
}

// Beginnings of a tape, in each dialect, with the session s.
const (
	v1 = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"editor","version":"1"}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"coder","version":"2"},"agentCapabilities":{"loadSession":true}}}
` + setup
	v2early = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"clientInfo":{"name":"editor","version":"1"},"capabilities":{}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"agentInfo":{"name":"coder","version":"2"},"capabilities":{"session":{"load":{}}}}}
` + setup
	v2 = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"editor","version":"1"},"capabilities":{}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"coder","version":"2"},"capabilities":{"session":{}}}}
` + setup
	setup = `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
`
)

// update makes the line of a session/update of the session s.
func update(fields string) string {
	return `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + fields + "}}}\n"
}

func prompt(id, text string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

func reply(id, result string) string {
	return `< {"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n"
}
