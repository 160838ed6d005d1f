package dialect_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

var update = flag.Bool("update", false, "rewrite testdata with what the tracker says")

// TestTracker plays the conversations of testdata. A line that begins with > is
// a frame of the client, one with < a frame of the agent; a word before the
// JSON is its origin, or mark, and before that may stand its stream, such as #3. The line with = under it is what the tracker says of
// it, a line with ! asks for the connection as it is known then. Frames come at the
// same time, but for those behind a line with + and a duration; untimed there means
// that nobody knows when the next one comes.
func TestTracker(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// play returns the conversation with the tracker's annotations.
func play(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	seq, now, untimed := uint64(0), time.Duration(0), false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "="), strings.HasPrefix(line, "!"):
			if line[0] == '!' {
				fmt.Fprintf(&out, "! %s\n", connection(tracker.Connection()))
			}
			continue
		}
		fmt.Fprintln(&out, line)
		if wait, ok := strings.CutPrefix(line, "+ "); ok {
			d, err := time.ParseDuration(wait)
			untimed = wait == "untimed"
			if now += d; err != nil && !untimed {
				t.Fatal(err)
			}
			continue
		}
		f, ok := frame(line)
		if !ok {
			continue
		}
		seq++
		f.Seq, f.At, f.Untimed, untimed = seq, now, untimed, false
		e := wire.Scan(f.Raw)
		if f.Kind != wire.Mark && f.Kind != wire.Stderr {
			f.Kind = e.Kind
		}
		annotation, facts := tracker.Observe(&f, e)
		fmt.Fprintf(&out, "= %d%s%s\n", seq, describe(annotation), told(facts))
	}
	return out.String()
}

// frame reads a line such as `> {…}` or `< injected {…}`.
func frame(line string) (wire.Frame, bool) {
	var f wire.Frame
	switch {
	case strings.HasPrefix(line, "> "):
	case strings.HasPrefix(line, "< "):
		f.Dir = wire.AgentToClient
	default:
		return f, false
	}
	line = line[2:]
	if after, ok := strings.CutPrefix(line, "#"); ok {
		if _, err := fmt.Sscanf(after, "%d", &f.Stream); err != nil {
			return f, false
		}
		_, line, _ = strings.Cut(after, " ")
	}
	switch word, rest, ok := strings.Cut(line, " "); {
	case ok && word == "mark":
		f.Kind, line = wire.Mark, rest
	case ok && word == "stderr":
		f.Kind, f.Dir, line = wire.Stderr, wire.AgentStderr, rest
	case ok && f.Origin.UnmarshalText([]byte(word)) == nil:
		line = rest
	}
	f.Raw = []byte(line)
	return f, true
}

var events = [...]string{"initialized", "opened", "closed", "gone", "lost", "renewed", "began", "ended", "failed", "cancelled", "callfailed", "refused", "silent", "badexit", "lost", "exited", "nobody", "slowtool", "slowsetup", "hung", "callcancelled", "echoed", "granted", "dropped", "stopped", "unwanted"}

func describe(a dialect.Annotation) string {
	var b strings.Builder
	if a.Method != "" {
		fmt.Fprintf(&b, " %s", a.Method)
	}
	if a.Update != "" {
		fmt.Fprintf(&b, " %s", a.Update)
	}
	if a.Session != "" {
		fmt.Fprintf(&b, " session=%s", a.Session)
	}
	if a.Request != 0 {
		fmt.Fprintf(&b, " answers=%d", a.Request)
	}
	for i, name := range events {
		if a.Events.Has(1 << i) {
			fmt.Fprintf(&b, " +%s", name)
		}
	}
	for _, entry := range a.Entries {
		fmt.Fprintf(&b, " [%s]", strings.TrimSpace(describe(entry)))
	}
	return b.String()
}

func told(n dialect.SessionFacts) string {
	var b strings.Builder
	for _, field := range []struct{ name, value string }{
		{"cwd", n.Cwd}, {"title", n.Title}, {"prompt", n.Prompt}, {"parent", n.Parent}, {"expires", n.Expires},
	} {
		if field.value != "" {
			fmt.Fprintf(&b, " %s=%q", field.name, field.value)
		}
	}
	if n.Setup != 0 {
		fmt.Fprintf(&b, " setup=%d", n.Setup)
	}
	return b.String()
}

func connection(c dialect.Connection) string {
	words := []string{c.Protocol.String(), c.Dialect.String(), c.Proposal.String(), c.Version}
	if c.Hybrid {
		words = append(words, "hybrid")
	}
	words = append(words, "client="+c.Client+"/"+c.ClientVersion, "agent="+c.Agent+"/"+c.AgentVersion)
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func TestConnectionBeforeResponse(t *testing.T) {
	for _, tt := range []struct {
		name, params string
		want         dialect.Dialect
		protocol     dialect.Protocol
	}{
		{"v1", `{"protocolVersion":1,"clientCapabilities":{}}`, dialect.ACPv1, dialect.ACP},
		{"v0", `{"protocolVersion":0}`, dialect.ACPv1, dialect.ACP},
		{"v2", `{"protocolVersion":2,"capabilities":{},"info":{"name":"c","version":"1"}}`, dialect.ACPv2, dialect.ACP},
		{"early", `{"protocolVersion":2,"capabilities":{},"clientInfo":{"name":"c"}}`, dialect.ACPv2Early, dialect.ACP},
		{"both", `{"protocolVersion":2,"capabilities":{},"clientCapabilities":{},"info":{},"clientInfo":{}}`, dialect.ACPv2, dialect.ACP},
		{"undecided", `{"protocolVersion":2,"capabilities":{}}`, dialect.ACPv2, dialect.ACP},
		{"spelled otherwise", `{"protocolVersion":1.0e0}`, dialect.ACPv1, dialect.ACP},
		{"negative", `{"protocolVersion":-1}`, dialect.Unknown, dialect.ACP},
		{"fraction", `{"protocolVersion":1.5,"clientCapabilities":{}}`, dialect.Unknown, dialect.ACP},
		{"string", `{"protocolVersion":"1.0.0"}`, dialect.Unknown, dialect.ACP},
		{"a date in ACP", `{"protocolVersion":"2025-06-18","clientCapabilities":{},"clientInfo":{"name":"c"}}`, dialect.Unknown, dialect.ACP},
		{"a date in v2", `{"protocolVersion":"2025-06-18","capabilities":{},"info":{"name":"c"}}`, dialect.Unknown, dialect.ACP},
		{"mcp", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c"}}`, dialect.MCPLegacy, dialect.MCP},
		{"mcp draft", `{"protocolVersion":"DRAFT-2025-v2","capabilities":{},"clientInfo":{"name":"c"}}`, dialect.MCPLegacy, dialect.MCP},
		{"mcp without capabilities", `{"protocolVersion":"2025-06-18","clientInfo":{"name":"c"}}`, dialect.MCPLegacy, dialect.MCP},
		{"nothing", `{}`, dialect.Unknown, dialect.AnyProtocol},
		{"array", `[]`, dialect.Unknown, dialect.AnyProtocol},
		{"null", `null`, dialect.Unknown, dialect.AnyProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracker := dialect.NewTracker(dialect.AnyProtocol)
			observe(tracker, 1, `> {"id":1,"method":"initialize","params":`+tt.params+`}`)
			if c := tracker.Connection(); c.Dialect != tt.want || c.Protocol != tt.protocol {
				t.Errorf("%s: got %v %v, want %v %v", tt.params, c.Protocol, c.Dialect, tt.protocol, tt.want)
			}
		})
	}
}

func TestDialectOfResponse(t *testing.T) {
	const (
		v1Offer    = `{"protocolVersion":1,"clientCapabilities":{}}`
		earlyOffer = `{"protocolVersion":2,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`
		v2Offer    = `{"protocolVersion":2,"capabilities":{},"info":{"name":"c","version":"1"}}`
		bothOffer  = `{"protocolVersion":2,"capabilities":{},"clientCapabilities":{},"info":{"name":"c"},"clientInfo":{"name":"c"}}`
	)
	for _, tt := range []struct {
		name, offer, result string
		want                dialect.Dialect
		hybrid              bool
	}{
		{"v1", v1Offer, `{"protocolVersion":1,"agentCapabilities":{}}`, dialect.ACPv1, false},
		{"v1 for v2", v2Offer, `{"protocolVersion":1,"agentCapabilities":{}}`, dialect.ACPv1, false},
		{"zero", v2Offer, `{"protocolVersion":0}`, dialect.ACPv1, false},
		{"v2", v2Offer, `{"protocolVersion":2,"capabilities":{},"info":{"name":"a"}}`, dialect.ACPv2, false},
		{"v2 with markers, as in June", v2Offer, `{"protocolVersion":2,"capabilities":{"session":{"load":{}}},"info":{"name":"a"}}`, dialect.ACPv2, false},
		{"early identity", v2Offer, `{"protocolVersion":2,"capabilities":{},"agentInfo":{"name":"a"}}`, dialect.ACPv2Early, false},
		{"early markers", v2Offer, `{"protocolVersion":2,"capabilities":{"session":{"resume":{}}}}`, dialect.ACPv2Early, false},
		{"null marker", v2Offer, `{"protocolVersion":2,"capabilities":{"session":{"load":null}}}`, dialect.ACPv2, false},
		{"as offered", earlyOffer, `{"protocolVersion":2,"capabilities":{"session":{}}}`, dialect.ACPv2Early, false},
		{"both keys offered", bothOffer, `{"protocolVersion":2,"capabilities":{},"agentInfo":{}}`, dialect.ACPv2Early, true},
		{"both keys answered", v2Offer, `{"protocolVersion":2,"capabilities":{},"agentInfo":{},"info":{}}`, dialect.ACPv2, true},
		{"v1 keys and v2 keys", v2Offer, `{"protocolVersion":1,"capabilities":{},"agentCapabilities":{}}`, dialect.ACPv1, true},
		{"no version", v1Offer, `{}`, dialect.ACPv1, false},
		{"a string", v2Offer, `{"protocolVersion":"1.0.0","agentCapabilities":{}}`, dialect.ACPv1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracker := dialect.NewTracker(dialect.AnyProtocol)
			observe(tracker, 1, `> {"id":1,"method":"initialize","params":`+tt.offer+`}`)
			annotation, _ := observe(tracker, 2, `< {"id":1,"result":`+tt.result+`}`)
			c := tracker.Connection()
			if c.Dialect != tt.want || c.Hybrid != tt.hybrid {
				t.Errorf("%s: got %v, hybrid %v, want %v, %v", tt.result, c.Dialect, c.Hybrid, tt.want, tt.hybrid)
			}
			if !annotation.Events.Has(dialect.Initialized) {
				t.Errorf("%s: not initialized", tt.result)
			}
		})
	}
}

// observe feeds a line as frame reads it.
func observe(tracker *dialect.Tracker, seq uint64, line string) (dialect.Annotation, dialect.SessionFacts) {
	f, _ := frame(line)
	f.Seq = seq
	e := wire.Scan(f.Raw)
	f.Kind = e.Kind
	return tracker.Observe(&f, e)
}

// A frame of which only the beginning was kept still finds its session.
func TestUnchecked(t *testing.T) {
	tracker := dialect.NewTracker(dialect.ACP)
	image := strings.Repeat("A", wire.MaxChecked)
	annotation, facts := observe(tracker, 1, `> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"what is this?"},{"type":"image","data":"`+image+`"}]}}`)
	if annotation.Session != "s1" || !annotation.Events.Has(dialect.TurnBegan) || facts.Prompt != "what is this?" {
		t.Errorf("prompt: got %+v %+v", annotation, facts)
	}
	annotation, _ = observe(tracker, 2, `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"x":"`+image+`"}}}`)
	if annotation.Request != 1 || annotation.Session != "s1" || !annotation.Events.Has(dialect.TurnEnded) {
		t.Errorf("response: got %+v", annotation)
	}
	_, facts = observe(tracker, 3, `> {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"long\nlong`+image+`"}]}}`)
	if facts.Prompt != "long" {
		t.Errorf("prompt of a text that was cut off: got %q", facts.Prompt)
	}
	annotation, _ = observe(tracker, 4, `< {"jsonrpc":"2.0","result":"`+image[:wire.MaxChecked-len(`{"jsonrpc":"2.0","result":"","id":4`)]+`","id":44}`)
	if annotation.Request != 0 {
		t.Errorf("an id that may have been cut off: got %+v", annotation)
	}
}

// Where acptap changed a request on its way, the response answers the one that
// was asked, and belongs to the session as the client calls it.
func TestAnswersWhoAsked(t *testing.T) {
	tracker := dialect.NewTracker(dialect.ACP)
	for i, tt := range []struct {
		dir    wire.Direction
		origin wire.Origin
		raw    string
		want   uint64
	}{
		{wire.ClientToAgent, wire.Withheld, `{"id":1,"method":"session/prompt","params":{"sessionId":"c"}}`, 0},
		{wire.ClientToAgent, wire.Rewritten, `{"id":1,"method":"session/prompt","params":{"sessionId":"a"}}`, 0},
		{wire.AgentToClient, wire.Withheld, `{"id":1,"method":"session/request_permission","params":{"sessionId":"a"}}`, 0},
		{wire.AgentToClient, wire.Rewritten, `{"id":1,"method":"session/request_permission","params":{"sessionId":"c"}}`, 0},
		{wire.ClientToAgent, wire.Wire, `{"id":1,"result":{}}`, 3},
		{wire.AgentToClient, wire.Wire, `{"id":1,"result":{"stopReason":"end_turn"}}`, 1},
	} {
		e := wire.Scan([]byte(tt.raw))
		f := wire.Frame{Seq: uint64(i + 1), Dir: tt.dir, Origin: tt.origin, Kind: e.Kind, Raw: []byte(tt.raw)}
		annotation, _ := tracker.Observe(&f, e)
		if annotation.Request != tt.want || tt.want != 0 && annotation.Session != "c" {
			t.Errorf("%s: got %+v, want it to answer %d in session c", tt.raw, annotation, tt.want)
		}
	}
}

func TestPromptLine(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, tt := range []struct{ name, blocks, want string }{
		{"one line", `[{"type":"text","text":"fix the test"}]`, "fix the test"},
		{"several", `[{"type":"text","text":"\r\n  \n  fix \r\nthe test"}]`, "fix"},
		{"cut", `[{"type":"text","text":"` + long + `"}]`, long[:160]},
		{"cut, escaped", `[{"type":"text","text":"` + strings.Repeat(`\ud83d\ude00`, 5000) + `"}]`, strings.Repeat("😀", 80)},
		{"image first", `[{"type":"image","data":"x"},{"type":"text","text":"see"}]`, "see"},
		{"no text", `[{"type":"image","data":"x"}]`, ""},
		{"no array", `"hello"`, ""},
		{"wrong types", `[1,null,{"text":7},{"type":"text","text":"ok"}]`, "ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, facts := observe(dialect.NewTracker(dialect.ACP), 1, `> {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":`+tt.blocks+`}}`)
			if facts.Prompt != tt.want {
				t.Errorf("got %q, want %q", facts.Prompt, tt.want)
			}
		})
	}
}

// Requests that never get a response are forgotten, the oldest first.
func TestOpenRequestsAreBounded(t *testing.T) {
	tracker := dialect.NewTracker(dialect.ACP)
	const n = 1<<16 + 1
	for i := range n {
		observe(tracker, uint64(i+1), fmt.Sprintf(`> {"id":%d,"method":"session/list"}`, i))
	}
	if annotation, _ := observe(tracker, n+1, `< {"id":0,"result":{}}`); annotation.Request != 0 {
		t.Errorf("the oldest: got %+v", annotation)
	}
	if annotation, _ := observe(tracker, n+2, `< {"id":1,"result":{}}`); annotation.Request != 2 {
		t.Errorf("the second: got %+v", annotation)
	}
}

func TestStateIsDeterministic(t *testing.T) {
	a, b := dialect.NewTracker(dialect.ACP), dialect.NewTracker(dialect.ACP)
	for i := range 100 {
		line := fmt.Sprintf(`> {"id":"%d","method":"session/prompt","params":{"sessionId":"s%d"}}`, i, i%7)
		observe(a, uint64(i), line)
		observe(b, uint64(i), line)
	}
	x, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	y, _ := b.MarshalBinary()
	if !bytes.Equal(x, y) {
		t.Errorf("two states of the same traffic: got\n%s\nand\n%s", x, y)
	}
	var c dialect.Tracker
	if err := c.UnmarshalBinary(x); err != nil {
		t.Fatal(err)
	}
	if z, _ := c.MarshalBinary(); !bytes.Equal(x, z) {
		t.Errorf("restored: got\n%s\nwant\n%s", z, x)
	}
}
