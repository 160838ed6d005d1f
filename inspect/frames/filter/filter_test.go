package filter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// subjects are frames of all sorts, by name.
func subjects() map[string]*filter.Subject {
	frame := func(kind wire.Kind, dir wire.Direction, raw string, about dialect.Annotation) *dialect.Frame {
		return &dialect.Frame{
			Frame:      wire.Frame{Kind: kind, Dir: dir, Raw: []byte(raw), Size: int64(len(raw))},
			Annotation: about,
		}
	}
	list := map[string]*filter.Subject{
		"chunk": {
			Frame: frame(wire.Notification, wire.AgentToClient,
				`{"method":"session/update","params":{"update":{"content":{"text":"Say \"hi\"\nto A\/B, caf\u00e9 \ud83d\ude00"}}}}`,
				dialect.Annotation{Method: "session/update", Update: "agent_message_chunk", Session: "s-123"}),
			Turn: 2,
		},
		"tool": {
			Frame: frame(wire.Notification, wire.AgentToClient,
				`{"method":"session/update","params":{"update":{"toolCallId":"call-7","status":"failed","locations":[{"line":3},{"line":40}]}}}`,
				dialect.Annotation{Method: "session/update", Update: "tool_call_update", Session: "s-123", Events: dialect.CallFailed | dialect.SlowTool}),
			Turn: 2,
			Tool: filter.Tool{ID: "call-7", Title: "Read mean.go"},
		},
		"ask": {
			Frame: frame(wire.Request, wire.AgentToClient,
				`{"id":"7","method":"session/request_permission","params":{"toolCall":{"toolCallId":"call-7","title":"Read mean.go"}}}`,
				dialect.Annotation{Method: "session/request_permission", Session: "s-123"}),
			Turn: 2,
			Open: true, Unanswered: true,
		},
		"read": {
			Frame: frame(wire.Response, wire.ClientToAgent, `{"id":17,"error":{"code":-32000,"message":"No such file"}}`,
				dialect.Annotation{Method: "fs/read_text_file", Session: "s-1", Request: 3}),
			Latency: 2*time.Second + 345*time.Millisecond,
		},
		"batch": {
			Frame: frame(wire.Batch, wire.ClientToAgent, `[{"id":1,"method":"ping"},{"id":2,"method":"tools/call","params":{"n":5,"name":"grep"}}]`,
				dialect.Annotation{Entries: []dialect.Annotation{{Method: "ping"}, {Method: "tools/call", Session: "t"}}}),
		},
		"stderr": {Frame: frame(wire.Stderr, wire.AgentStderr, `C:\new\`, dialect.Annotation{}), Server: "every/thing"},
		"mark":   {Frame: frame(wire.Mark, wire.AgentToClient, `{"gap":12}`, dialect.Annotation{Events: dialect.BytesLost})},
	}
	list["read"].Failed = true
	list["chunk"].Origin = wire.Injected
	list["tool"].Stream, list["tool"].Redelivered, list["read"].Stream = 3, true, 4
	list["ask"].Findings = []*conform.Finding{
		{Rule: &conform.Rule{ID: "ACP441", Name: "cancelled-prompt"}, Strength: conform.Violation, Fault: conform.Agent},
		{Rule: &conform.Rule{ID: "RPC002", Name: "banner"}, Strength: conform.Note},
	}
	list["read"].Findings = []*conform.Finding{{Rule: &conform.Rule{ID: "ACP401", Name: "read"}, Strength: conform.Warning, Fault: conform.Client}}
	for i, name := range []string{"chunk", "tool", "ask", "read", "batch", "stderr", "mark"} {
		s := list[name]
		s.Seq, s.At = uint64(i+1), time.Duration(i)*time.Second
		s.Start = time.Date(2026, 1, 2, 23, 59, 57, 500e6, time.UTC)
	}
	return list
}

// everything is the names of all subjects, in their order.
const everything = "chunk tool ask read batch stderr mark"

var matchTests = []struct {
	query string
	want  string // names of the frames
}{
	{"", everything},
	{" \t ", everything},

	// Operators.
	{"method:ping | method:session/update", "chunk tool batch"},
	{"method:session/* !update:tool_call_update", "chunk ask"},
	{"!method:*", "stderr mark"},
	{"!!method:ping", "batch"},
	{"! (kind:mark | kind:stderr) session:s", "chunk tool ask read"},
	{"(kind:mark|kind:batch)", "batch mark"},
	{"kind:mark | kind:batch method:ping", "batch mark"},
	{"((((seq:1))))", "chunk"},

	// Words.
	{"method:fs/read_text_file", "read"},
	{"method:*_file", "read"},
	{"method:s*date", "chunk tool"},
	{"method:f*read*t*e", "read"},
	{"method:session/up*pdate", ""},
	{"method:session", ""},
	{"method=*", ""},
	{"method~^ping$", "batch"},
	{`method:""`, ""},
	{"update:*_chunk", "chunk"},
	{"kind:response", "read"},
	{"kind=response", "read"},
	{"dir:agent", "chunk tool ask mark"},
	{"dir:c2a", "read batch"},
	{"origin:injected", "chunk"},
	{"server:every/thing", "stderr"},
	{"server:*", "stderr"},
	{"server:every", ""},
	{"server~thin", "stderr"},
	{"!server:*", "chunk tool ask read batch mark"},
	{"is:error", "read"},
	{"is:open", "ask"},
	{"is:gap", "mark"},
	{"is:failed", "tool ask read mark"},
	{"failure:error", "read"},
	{"failure:tool", "tool"},
	{"slow=tool", "tool"},
	{"slow:silent", ""},
	{"failure:unanswered", "ask"},
	{"failure:gap", "mark"},
	{"failure:exit | failure:invalid | failure:stopped", ""},
	{"is:open !is:failed", ""},
	{"is:redelivered", "tool"},
	{"stream:3", "tool"},
	{"stream:>0", "tool read"},
	{"stream:0", ""},
	{"is:finding", "ask read"},
	{"is:violation", "ask"},
	{"is:warning", "read"},
	{"is:note", "ask"},
	{"rule:ACP44*", "ask"},
	{"rule:ACP44", ""},
	{"rule:ACP4*", "ask read"},
	{"rule:cancelled-*", "ask"},
	{"rule=ACP401", "read"},
	{"rule~^R", "ask"},
	{"by:client", "read"},
	{"by:agent", "ask"},
	{"by:agent is:warning", ""},
	{"session:s-1", "chunk tool ask read"},
	{"session=s-1", "read"},
	{"session:t", "batch"},
	{"tool:call-7", "tool ask"},
	{"tool:call", "tool ask"},
	{"tool=call", ""},
	{"tool:MEAN", ""},
	{"tool:mean.go", "tool ask"},
	{"tool~^Read", "tool ask"},
	{"tool:GREP", ""},
	{"tool:grep", "batch"},
	{"id:7", "ask"},
	{"id:1", "batch"},
	{"id:17", "read"},
	{"id~^1", "read batch"},

	// Numbers.
	{"seq:3..5", "ask read batch"},
	{"seq>=6", "stderr mark"},
	{"seq:<2", "chunk"},
	{"seq:<=2", "chunk tool"},
	{"turn:2", "chunk tool ask"},
	{"turn<9", "chunk tool ask"},
	{"size:7", "stderr"},
	{"size:<0.01k", "stderr"},
	{"size<=10B", "stderr mark"},
	{"size>1MB", ""},
	{"latency:>2s", "read"},
	{"latency>2.345s", ""},
	{"latency:2s", "read"},
	{"latency:2.3s", "read"},
	{"latency:2.34s", "read"},
	{"latency:2.35s", ""},
	{"latency:2344ms..2346ms", "read"},
	{"time:<1s", "chunk"},
	{"time:1s..2.5s", "tool ask"},
	{"time:23:59:58", "tool"},
	{"time:23:59:59.5", "ask"},
	{"time:23:59:58.6..23:59:59.5", "ask"},
	{"time<00:00:01", "read"},
	{"time>=2026-01-03T01:00:02.5+01:00", "stderr mark"},
	{"time:2026-01-02T23:59:58Z..2026-01-02T23:59:59Z", "tool"},

	// Texts.
	{"say", "chunk"},
	{"SAY", ""},
	{"Say", "chunk"},
	{`"\"hi\"` + "\n" + `to"`, "chunk"},
	{"A/B", "chunk"},
	{`"café 😀"`, "chunk"},
	{`CAFÉ`, ""},
	{`\u00e9`, "chunk"},
	{`"c:\new\\"`, "stderr"},
	{`text:c:\new\`, "stderr"},
	{`text=C:\new\`, "stderr"},
	{`text~^C:.n`, "stderr"},
	{`text~"A/B, caf."`, "chunk"},
	{"such file", "read"},
	{`"such file"`, "read"},
	{`"such  file"`, ""},
	{`""`, everything},
	{`foo"such file"`, ""},
	{".go", "ask"},

	// Paths.
	{".params.update.status:fail", "tool"},
	{".params.update.status=fail", ""},
	{".params.update.status=failed", "tool"},
	{".params.update.status~^f", "tool"},
	{".params.update.content.text:a/b", "chunk"},
	{".error.code<0", "read"},
	{".error.code:-32000", "read"},
	{".error.code:-33000..-31000", "read"},
	{".params.update.locations.#.line>39", "tool"},
	{".params.update.locations.#.line:4..39", ""},
	{"`params.update.locations.#(line==40).line`=40", "tool"},
	{".method:tools", "batch"},
	{".params.n=5", "batch"},
	{`.params.toolCall:""`, "ask"},
	{".gap>0", "mark"},
	{"!.method:e", "read batch stderr mark"},
}

func TestMatch(t *testing.T) {
	all := subjects()
	for _, tt := range matchTests {
		f, err := filter.Parse(tt.query)
		if err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		var got []string
		for _, name := range strings.Fields(everything) {
			s := all[name]
			if f.Match(s) {
				got = append(got, name)
			}
			checkBare(t, f, s)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.query, got, tt.want)
		}
		checkString(t, f)
	}
}

// checkBare checks that May without bytes agrees with Match.
func checkBare(t *testing.T, f filter.Filter, s *filter.Subject) {
	t.Helper()
	row := *s.Frame
	row.Raw = nil
	bare := *s
	bare.Frame = &row
	got, want := f.May(&bare), f.Match(s)
	if want && !got || got != want && !f.NeedsBytes() {
		t.Errorf("%s: without bytes %t, with them %t, for %q", f, got, want, s.Raw)
	}
	if f.Match(&bare) && !want {
		t.Errorf("%s: a match without bytes, none with them, for %q", f, s.Raw)
	}
}

// checkString checks that the text of f is f.
func checkString(t *testing.T, f filter.Filter) {
	t.Helper()
	again, err := filter.Parse(f.String())
	if err != nil || !filter.Equal(again, f) {
		t.Errorf("%q becomes %q, %v", f.String(), again.String(), err)
	}
}

var stringTests = []struct{ query, want string }{
	{"  a   b ", "a b"},
	{`"a"`, "a"},
	{`"a b"`, `"a b"`},
	{`"a:b" "c(d" "!e" "\"" "\\" "\d" "\\d"`, `"a:b" "c(d" "!e" "\"" \ \d \d`},
	{"text:a", "a"},
	{"text=a", "text=a"},
	{"((a|b)|c)", "a | b | c"},
	{"(a|b) (c (d e))", "(a | b) c d e"},
	{"!!a !(b) !(c d) ! ! ! e", "a !b !(c d) !e"},
	{"!(!a)", "a"},
	{"!(a|b)|!c", "!(a | b) | !c"},
	{"seq:>=3 seq:=3 seq>3 method:~a", "seq>=3 seq=3 seq>3 method~a"},
	{`method:"=a" method:"a"`, `method:"=a" method:a`},
	{`dir:client`, `dir:client`},
	{`.a:1..2 .a:"1..2" .a:a..b text:1..2`, `.a:1..2 .a:"1..2" .a:"a..b" 1..2`},
	{"`a.b`:c `a|b`:c", ".a.b:c `a|b`:c"},
	{"time:15:04:05..15:04:06", "time:15:04:05..15:04:06"},
	{"http//x a/b:c .a/b:c 1:2 -> <b>", "http//x a/b:c .a/b:c 1:2 -> <b>"},
}

func TestString(t *testing.T) {
	for _, tt := range stringTests {
		f, err := filter.Parse(tt.query)
		if got := f.String(); err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.query, got, err, tt.want)
		}
		checkString(t, f)
	}
}

var errorTests = []struct {
	query string
	pos   int
	want  string // in the error
}{
	{"http://x", 0, `"http" is not a key`},
	{"a a=b", 2, "one of method update kind"},
	{"Method:x", 0, `"Method" is not a key`},
	{"method:", 7, "a value is missing"},
	{"method: x", 7, "a value is missing"},
	{"kind:", 5, "one of invalid request"},
	{"method:!x", 7, "quote a value"},
	{"method>x", 6, "method does not take >; expected one of : = ~"},
	{"seq~1", 3, "seq does not take ~"},
	{"kind:event", 5, `"event" is not a value of kind; expected one of invalid request response`},
	{"kind:notif", 5, `"notif" is not a value of kind; expected one of invalid request response`},
	{"outcome:died", 8, `expected one of done cancelled "token limit reached" refused error "answer not recorded" "agent died"`},
	{"failure:bad", 8, "one of error tool stopped unanswered invalid gap exit"},
	{"is:bad", 3, "one of error open gap failed cancelled redelivered finding violation warning hurts note"},
	{"seq:x", 4, "not a whole number"},
	{"seq:-1", 4, "not a whole number"},
	{"seq:1..", 4, "a range has two ends"},
	{"seq:..1", 4, "a range has two ends"},
	{"seq:3..1", 4, "ends before it begins"},
	{"size:1X", 5, "not a size"},
	{"size:1e3", 5, "not a size"},
	{"size:99999999999G", 5, "not a size"},
	{"latency:5", 8, "not a duration"},
	{"latency:-5s", 8, "not a duration"},
	{"time:5", 5, "not a time"},
	{"time:1s..15:04:05", 5, "not a time"},
	{"time:3s..2s", 5, "ends before it begins"},
	{"time:23:59:59..00:00:01", 5, "ends before it begins"},
	{"time:9999-01-02T15:04:05Z", 5, "not a time"},
	{"time:15:04:05,5", 5, "not a time"},
	{`time:""`, 5, "not a time"},
	{`size:""`, 5, "not a size"},
	{".a>x", 3, "not a number"},
	{".a:2..1", 3, "ends before it begins"},
	{"method~(", 7, "a value is missing"},
	{`method~"("`, 7, "missing closing )"},
	{`"abc`, 0, "unterminated"},
	{`method:"abc\"`, 7, "unterminated"},
	{"x `abc", 2, "unterminated"},
	{"`", 0, "unterminated"},
	{"``:a", 0, "a path is missing"},
	{"`a` b", 3, "operator"},
	{"`a.@values`:b", 0, "computes none"},
	{"(a", 0, "unmatched ("},
	{"a)", 1, "unmatched )"},
	{"()", 1, "a term is missing"},
	{"a |", 3, "a term is missing"},
	{"| a", 0, "a term is missing"},
	{"a || b", 3, "a term is missing"},
	{"a !", 3, "a term is missing"},
	{"!)", 1, "a term is missing"},
	{strings.Repeat("(", 1e6), 200, "nested too deeply"},
}

func TestErrors(t *testing.T) {
	for _, tt := range errorTests {
		name := tt.query[:min(len(tt.query), 40)]
		f, err := filter.Parse(tt.query)
		var e *filter.SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, %v", name, f, err)
			continue
		}
		if e.Query != tt.query || e.Pos != tt.pos || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q at %d, want %q at %d", name, err, e.Pos, tt.want, tt.pos)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := filter.Parse("語\té é kinds:x")
	var e *filter.SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if got, want := e.Caret(), "語 é é kinds:x\n       ^\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNeeds(t *testing.T) {
	tests := []struct {
		query string
		want  string
	}{
		{"", ""},
		{"method:a kind:mark is:error seq:1", ""},
		{"a", "bytes"},
		{"kind:mark | !.a:b", "bytes"},
		{"id:1", "bytes"},
		{"latency>1s", "past"},
		{"turn:1 is:open", "past future"},
		{"is:failed", "future"},
		{"failure:unanswered", "future"},
		{"failure:tool", ""},
		{"tool:a", "bytes past"},
		{"is:note", "findings"},
		{"is:gap | rule:A", "bytes past findings"},
		{"by:client", "findings"},
	}
	for _, tt := range tests {
		f, err := filter.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, need := range []struct {
			name string
			is   bool
		}{{"bytes", f.NeedsBytes()}, {"past", f.NeedsPast()}, {"future", f.NeedsFuture()}, {"findings", f.NeedsFindings()}} {
			if need.is {
				got = append(got, need.name)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.query, got, tt.want)
		}
		if f.IsZero() != (tt.query == "") {
			t.Errorf("%s: IsZero is %t", tt.query, f.IsZero())
		}
	}
}

func TestCombine(t *testing.T) {
	is := func(key, value string) filter.Filter {
		f, err := filter.Is(key, value)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b, c := is("method", "a b"), is("session", `"`), is("text", "x:y")
	tests := []struct {
		got  filter.Filter
		want string
	}{
		{filter.All(), ""},
		{filter.All(filter.Filter{}, a), `method:"a b"`},
		{filter.All(filter.Any(a, b), c), `(method:"a b" | session:"\"") "x:y"`},
		{filter.Any(a, filter.Filter{}), ""},
		{filter.Any(filter.All(a, b), c), `method:"a b" session:"\"" | "x:y"`},
	}
	for _, tt := range tests {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	for _, key := range []string{"kind", "methods", ""} {
		if f, err := filter.Is(key, "x"); err == nil {
			t.Errorf("%s:x is %v", key, f)
		}
	}
	if names := filter.Keys(); !slices.ContainsFunc(names, func(k filter.Key) bool { return k.Name == "method" }) {
		t.Errorf("keys are %v", names)
	}
}

func TestWords(t *testing.T) {
	for word, want := range map[string]wire.Direction{"c2a": wire.ClientToAgent, "agent": wire.AgentToClient, "stderr": wire.AgentStderr} {
		if got, err := filter.Direction(word); err != nil || got != want {
			t.Errorf("direction %q: got %v, %v, want %v", word, got, err, want)
		}
	}
	for word, want := range map[string]wire.Kind{"request": wire.Request, "notif": wire.Notification, "m": wire.Mark} {
		if got, err := filter.Kind(word); err != nil || got != want {
			t.Errorf("kind %q: got %v, %v, want %v", word, got, err, want)
		}
	}
	for word, want := range map[string]string{"re": "request or response", "": "unknown kind", "event": "use one of invalid, request"} {
		if got, err := filter.Kind(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("kind %q: got %v, %v, want %q in the error", word, got, err, want)
		}
	}
	if got, err := filter.Direction("in"); err == nil {
		t.Errorf("direction in: got %v", got)
	}
}
