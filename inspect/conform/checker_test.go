package conform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// frames returns the frames of a conversation, as Example.Frames reads it.
func frames(t *testing.T, lines string) []dialect.Frame {
	t.Helper()
	x := conform.Example{Name: t.Name(), Text: lines}
	all, err := conformtest.Frames(x)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// feed judges frames.
func feed(c *conform.Checker, frames []dialect.Frame) {
	for i := range frames {
		c.Add(&frames[i])
	}
}

// blamed returns which rules were broken by whom, in the order of the frames.
func blamed(findings []conform.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %v %d", f.Rule.ID, f.Fault, f.Seq))
	}
	return all
}

// verdict returns what became of a rule.
func verdict(t *testing.T, c *conform.Checker, id string) conform.Verdict {
	t.Helper()
	for _, v := range c.Verdicts() {
		if v.Rule.ID == id {
			return v
		}
	}
	t.Fatalf("there is no rule %s", id)
	return conform.Verdict{}
}

// TestHasRead: a side has read what went to it if the grace has passed since, or if it
// has answered something that was sent later.
func TestHasRead(t *testing.T) {
	tests := []struct {
		name    string
		between string // the client's _x/mark and the agent's _x/probe
		want    bool
	}{
		{"at once", "", false},
		{"within the grace", "+ 200ms", false},
		{"after the grace", "+ 300ms", true},
		{"answers what came before", `< {"id":7,"result":{}}`, false},
		{"answers what came later", "> {\"id\":8,\"method\":\"_x/y\"}\n< {\"id\":8,\"result\":{}}", true},
		{"the client answers", "< {\"id\":8,\"method\":\"_x/y\"}\n> {\"id\":8,\"result\":{}}", false},
		{"sends something else", `< {"method":"_x/y"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var marked conform.Moment
			var got, probed bool
			rule := &conform.Rule{
				ID: "RPC999", Name: "probe", Clauses: []conform.Clause{{Strength: conform.Note}}, On: []conform.On{{Kinds: conform.Notifications}},
				Check: func(s *conform.Step, _ *conform.Report) {
					switch s.Method {
					case "_x/mark":
						marked = s.Moment()
					case "_x/probe":
						got, probed = s.HasRead(marked), true
					}
				},
			}
			c := conform.NewChecker(conform.Options{Beginning: true, Rules: []*conform.Rule{rule}})
			feed(c, frames(t, "= v1\n> {\"id\":7,\"method\":\"_x/y\"}\n> {\"method\":\"_x/mark\"}\n"+tt.between+"\n< {\"method\":\"_x/probe\"}\n"))
			if !probed || got != tt.want {
				t.Errorf("HasRead = %v (asked: %v), want %v", got, probed, tt.want)
			}
		})
	}
}

// TestBetween: where acptap changed frames, each side is judged by what it sent and saw, and
// no one is blamed for frames that acptap made.
func TestBetween(t *testing.T) {
	const (
		asks  = `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}` + "\n"
		plain = `{"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"agent","version":"1"}}}` + "\n"
		loads = `{"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"agent","version":"1"}}}` + "\n"
		load  = `{"id":1,"method":"session/load","params":{"sessionId":"s9","cwd":"/w","mcpServers":[]}}` + "\n"
		new   = `{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n"
		made  = `{"id":1,"result":{"sessionId":"s1"}}` + "\n"
		empty = `{"id":1,"result":{"sessionId":""}}` + "\n"
	)
	tests := []struct {
		name  string
		lines string
		want  []string // rule, fault, frame
		own   []string // if what acptap made is judged, too
	}{
		{"the client is told more than the agent offers",
			asks + "< withheld " + plain + "< rewritten " + loads + "> withheld " + load + "< injected " + `{"id":1,"result":{}}`, nil, nil},
		{"the client asks for what it was not told of",
			asks + "< withheld " + loads + "< rewritten " + plain + "> withheld " + load, []string{"ACP121 client 4"}, []string{"ACP121 client 4"}},
		{"acptap asks for what the agent does not offer",
			asks + "< " + plain + "> injected " + load, nil, []string{"ACP121 acptap 3"}},
		{"acptap mends what the agent answers",
			asks + "< " + plain + "> " + new + "< withheld " + empty + "< rewritten " + made, []string{"ACP201 agent 4"}, []string{"ACP201 agent 4"}},
		{"acptap spoils what the agent answers",
			asks + "< " + plain + "> " + new + "< withheld " + made + "< rewritten " + empty, nil, []string{"ACP201 acptap 5"}},
		{"acptap asks the agent under an id that the client uses",
			asks + "< " + plain + "> withheld " + `{"id":1,"method":"_x/y"}` + "\n> injected " + `{"id":1,"method":"_x/z"}` + "\n< withheld " + `{"id":1,"result":{}}` + "\n< injected " + `{"id":1,"result":{}}`, nil, nil},
		{"the agent knows a session by another id",
			asks + "< withheld " + plain + "< rewritten " + loads + "> withheld " + load +
				`> injected {"id":"a","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n" + `< withheld {"id":"a","result":{"sessionId":"s1"}}` + "\n" +
				`< injected {"id":1,"result":{}}` + "\n" +
				`> withheld {"id":2,"method":"session/prompt","params":{"sessionId":"s9","prompt":[{"type":"text","text":"hello"}]}}` + "\n" +
				`> rewritten {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}` + "\n" +
				`< {"id":2,"result":{"stopReason":"end_turn"}}`,
			[]string{"ACP307 agent 10"}, []string{"ACP307 agent 10"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for own, want := range map[bool][]string{false: tt.want, true: tt.own} {
				c := conform.NewChecker(conform.Options{Beginning: true, Between: true, Own: own})
				feed(c, frames(t, tt.lines))
				c.End()
				if got := blamed(c.Findings()); !slices.Equal(got, want) {
					t.Errorf("own %v: found %v, want %v", own, got, want)
				}
				for _, v := range c.Verdicts() {
					if v.Open != "" {
						t.Errorf("%s could not be judged: %s", v.Rule.ID, v.Open)
					}
				}
			}
		})
	}
}

// TestNotBetween: without Between, judging stops at the first frame that acptap made.
func TestNotBetween(t *testing.T) {
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, frames(t, "= v1\n> injected {\"method\":\"_x/y\"}\n< {\"id\":99,\"result\":{}}"))
	c.End()
	if got := blamed(c.Findings()); got != nil {
		t.Errorf("found %v", got)
	}
}

// TestHoles: a hole in the tape silences exactly the rules that need the missing part, and
// the verdict says why.
func TestHoles(t *testing.T) {
	const (
		unasked = "< {\"id\":99,\"result\":{}}\n" // RPC010
		setMode = `> {"id":9,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"yolo"}}` + "\n"
		load    = `> {"id":9,"method":"session/load","params":{"sessionId":"s9","cwd":"/w","mcpServers":[]}}` + "\n"
		another = "> {\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":1,\"result\":{\"sessionId\":\"s1\"}}\n"
		open    = "> {\"id\":5,\"method\":\"_x/y\"}\n"
		mcp     = `> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}` + "\n" +
			`< {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}}` + "\n"
		list = "> {\"id\":1,\"method\":\"tools/list\"}\n< {\"id\":1,\"result\":{\"tools\":[]}}\n"
		ends = "+ 1s\n< mark {\"eof\":true}\n< mark {\"exit\":{\"code\":0}}\n"
	)
	update := func(session string, size int) string {
		return fmt.Sprintf(`< {"method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`, session, strings.Repeat("x", size)) + "\n"
	}
	tests := []struct {
		name  string
		lines string
		rule  string
		found int
		open  string // why the rule could not judge
		drop  uint64 // frame that is not on the tape
		cut   bool   // it is unknown whether the tape begins with the first frame
	}{
		{name: "a gap, then what needs the connection", lines: "= v1\n> mark {\"gap\":28}\n" + unasked, rule: "RPC010", open: "28 bytes are missing at frame 3"},
		{name: "a gap after it", lines: "= v1\n" + unasked + "> mark {\"gap\":28}\n", rule: "RPC010", found: 1},
		{name: "a gap, then a session from before", lines: "= v1\n= session\n> mark {\"gap\":28}\n" + setMode, rule: "ACP602", open: "28 bytes are missing at frame 5"},
		{name: "a gap, then a session set up anew", lines: "= v1\n= session\n> mark {\"gap\":28}\n" + another + setMode, rule: "ACP602", found: 1},
		{name: "a gap, then what needs the hello", lines: "= v1\n> mark {\"gap\":28}\n" + load, rule: "ACP121", found: 1},
		{name: "a gap while a request is open", lines: "= v1\n" + open + "> mark {\"gap\":28}\n" + ends, rule: "RPC018", open: "28 bytes are missing at frame 4"},
		{name: "a request after the gap", lines: "= v1\n> mark {\"gap\":28}\n" + open + ends, rule: "RPC018", found: 1},
		{name: "damage", lines: "= v1\n> mark {\"damage\":28}\n" + unasked, rule: "RPC010", open: "what came at frame 3 could not be read or recorded"},
		{name: "a torn message", lines: "= v1\n< raw \"{\\\"jsonrpc\\\":\"\n" + unasked, rule: "RPC010", open: "frame 3 may be a torn message"},
		{name: "a banner", lines: "= v1\n< raw \"ready\"\n" + unasked, rule: "RPC010", found: 1},
		{name: "a jump", lines: "= v1\n" + open + unasked, rule: "RPC010", drop: 3, open: "frames are missing before frame 4"},
		{name: "no jump", lines: "= v1\n" + unasked + open, rule: "RPC010", drop: 4, found: 1},
		{name: "oversized, its session", lines: "= v1\n= session\n" + update("s1", 2<<20) + setMode, rule: "ACP602", open: "frame 5 is too large to be read whole"},
		{name: "oversized, another session", lines: "= v1\n= session\n" + update("s2", 2<<20) + setMode, rule: "ACP602", found: 1},
		{name: "oversized, the connection", lines: "= v1\n= session\n" + update("s1", 2<<20) + unasked, rule: "RPC010", found: 1},
		{name: "oversized, an id that may stand behind", lines: "= v1\n> {\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s1\",\"prompt\":[{\"type\":\"text\",\"text\":\"" + strings.Repeat("x", 2<<20) + "\"}]},\"id\":7}\n< {\"id\":7,\"result\":{\"stopReason\":\"end_turn\"}}\n", rule: "RPC010", open: "frame 3 is too large to be read whole"},
		{name: "no beginning", lines: unasked + "= v1\n", rule: "RPC010", cut: true, open: "the beginning of the connection is not on the tape"},
		{name: "no hello", lines: load, rule: "ACP101", cut: true, open: "the beginning of the connection is not on the tape"},
		{name: "initialize is a beginning", lines: "= v1\n" + unasked, rule: "RPC010", cut: true, found: 1},
		{name: "no end", lines: "= v1\n" + open, rule: "RPC018"},
		{name: "no end, undecided", lines: mcp + list, rule: "MCP103", open: "the end of the connection is not on the tape"},
		{name: "decided late", lines: mcp + list + "> {\"method\":\"notifications/initialized\"}\n", rule: "MCP103", found: 1},
		{name: "decided at the end", lines: mcp + list + ends, rule: "MCP103", found: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := slices.DeleteFunc(frames(t, tt.lines), func(f dialect.Frame) bool { return f.Seq == tt.drop })
			c := conform.NewChecker(conform.Options{Beginning: !tt.cut})
			feed(c, all)
			c.End()
			v := verdict(t, c, tt.rule)
			if v.Found != tt.found || v.Open != tt.open {
				t.Errorf("found %d, open %q; want %d, %q", v.Found, v.Open, tt.found, tt.open)
			}
			for _, f := range c.Findings() {
				if f.Rule.ID == tt.rule && tt.found == 0 {
					t.Errorf("found %s at frame %d: %s", f.Rule.ID, f.Seq, f.Text)
				}
			}
		})
	}
}

// TestOversizedAsStored: a tape hands out only the beginning of a long frame, and its request
// is known all the same.
func TestOversizedAsStored(t *testing.T) {
	all := frames(t, "= v1\n> {\"id\":7,\"method\":\"_x/y\",\"params\":{\"text\":\""+strings.Repeat("x", 2<<20)+"\"}}\n< {\"id\":7,\"result\":{}}\n")
	for i := range all {
		all[i].Raw = all[i].Raw[:min(len(all[i].Raw), wire.MaxChecked)]
	}
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, all)
	c.End()
	if got := blamed(c.Findings()); !slices.Equal(got, []string{"RPC020 client 3"}) {
		t.Errorf("found %v", got)
	}
}

// TestSecondConnection: where the agent is started again on a tape, or the client sends
// initialize again, nothing of the first connection holds any more.
func TestSecondConnection(t *testing.T) {
	const (
		offers = `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"agent","version":"1"}}}
`
		load = "> {\"id\":1,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s9\",\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":1,\"error\":{\"code\":-32002,\"message\":\"Resource not found\"}}\n"
		exit = "> mark {\"eof\":true}\n< mark {\"eof\":true}\n< mark {\"exit\":{\"code\":0}}\n"
	)
	tests := []struct {
		name, lines string
		want        []string
	}{
		{"after an exit", offers + load + exit + "= v1\n" + load, []string{"ACP121 client 10"}},
		{"by another initialize", offers + load + "= v1\n" + load, []string{"ACP121 client 7"}},
		{"that offers more", "= v1\n" + exit + offers + load, nil},
		{"an answer to the first", offers + "> {\"id\":7,\"method\":\"_x/y\"}\n= v1\n< {\"id\":7,\"result\":{}}\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := conform.NewChecker(conform.Options{Beginning: true})
			feed(c, frames(t, tt.lines))
			c.End()
			if got := blamed(c.Findings()); !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}
}

// TestNext: tapes are counted, and their frames begin anew.
func TestNext(t *testing.T) {
	const bad = "= v1\n< {\"id\":99,\"result\":{}}\n"
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, frames(t, bad))
	c.Next(true)
	feed(c, frames(t, bad))
	c.End()
	if got := blamed(c.Findings()); !slices.Equal(got, []string{"RPC010 agent 3", "RPC010 agent 3"}) {
		t.Fatalf("found %v", got)
	}
	if f := c.Findings(); f[0].Tape != 0 || f[1].Tape != 1 {
		t.Errorf("on the tapes %d and %d, want 0 and 1", f[0].Tape, f[1].Tape)
	}
	if v := verdict(t, c, "RPC010"); v.Found != 1 {
		t.Errorf("the second tape has %d findings, want 1", v.Found)
	}
}

// TestFindingsAreBounded: of one rule, by one side, on one tape 1,000 are kept, and all are
// counted.
func TestFindingsAreBounded(t *testing.T) {
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, frames(t, "= v1\n"+strings.Repeat("< {\"id\":99,\"error\":\"x\"}\n", 1500)+"> {\"id\":99,\"error\":\"x\"}\n"))
	var n [conform.Acptap]int
	for _, f := range c.Findings() {
		if f.Rule.ID == "RPC012" {
			n[f.Fault]++
		}
	}
	if n[conform.Agent] != 1000 || n[conform.Client] != 1 {
		t.Errorf("kept %d by the agent and %d by the client, want 1000 and 1", n[conform.Agent], n[conform.Client])
	}
	if v := verdict(t, c, "RPC012"); v.Found != 1501 || v.Lost != 500 {
		t.Errorf("found %d and lost %d, want 1501 and 500", v.Found, v.Lost)
	}
}

// TestSameID: an id may be written in another way in the response.
func TestSameID(t *testing.T) {
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, frames(t, "= v1\n"+`> {"id":2.0,"method":"_x/y"}
< {"id":2,"result":{}}
> {"id":"a\/b","method":"_x/y"}
< {"id":"a/b","result":{}}
`))
	c.End()
	if got := blamed(c.Findings()); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// TestUnpublishedVersion: no one is judged by the text of a version other than the agreed
// one.
func TestUnpublishedVersion(t *testing.T) {
	for version, want := range map[string][]string{
		"2":  {"ACP109 client 1", "ACP110 agent 2"},
		"99": nil,
	} {
		c := conform.NewChecker(conform.Options{Beginning: true})
		feed(c, frames(t, `> {"id":0,"method":"initialize","params":{"protocolVersion":`+version+`}}
< {"id":0,"result":{"protocolVersion":`+version+`}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call"}}}
`))
		c.End()
		var got []string
		for _, b := range blamed(c.Findings()) {
			if strings.HasPrefix(b, "ACP1") {
				got = append(got, b)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("version %s: got %v, want %v", version, got, want)
		}
	}
}
