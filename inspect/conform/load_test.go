package conform_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
	"github.com/acptap/acptap/proxy/dialect"
)

// framesOf reads the lines of a conversation.
func framesOf(t testing.TB, lines string) []dialect.Frame {
	t.Helper()
	frames, err := conformtest.Frames(conform.Example{Name: "lines", Text: lines})
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

const (
	loading = `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"agent","version":"1"}}}
`
	newSession = "= session\n"
	aTurn      = `> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
< {"id":2,"result":{"stopReason":"end_turn"}}
`
	aCommand = `> {"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"/clear"}]}}
< {"id":3,"result":{"stopReason":"end_turn"}}
`
	aGap      = `< mark {"gap":28}` + "\n"
	aDeletion = `> {"id":9,"method":"session/delete","params":{"sessionId":"s1"}}
< {"id":9,"result":{}}
`
	load = `> {"id":5,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}
`
	history = `< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hello"}}}}
`
	loaded  = `< {"id":5,"result":{}}` + "\n"
	refused = `< {"id":5,"error":{"code":-32002,"message":"no such session"}}` + "\n"
)

// TestSeveralTapes: what earlier tapes tell of a session counts for its load, unless
// something is missing on them.
func TestSeveralTapes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tapes []string
		want  []string // rules that are broken on the last tape
	}{
		{"no replay", []string{loading + newSession + aTurn, loading + load + loaded}, []string{"ACP221"}},
		{"no replay, two tapes later", []string{loading + newSession + aTurn, loading, loading + load + loaded}, []string{"ACP221"}},
		{"all of the replay late", []string{loading + newSession + aTurn, loading + load + loaded + history}, []string{"ACP221"}},
		{"replay", []string{loading + newSession + aTurn, loading + load + history + loaded}, nil},
		{"no turn", []string{loading + newSession, loading + load + loaded}, nil},
		{"cleared", []string{loading + newSession + aTurn + aCommand, loading + load + loaded}, nil},
		{"cleared on another tape", []string{loading + newSession + aTurn, loading + load + history + loaded + aCommand, loading + load + loaded}, nil},
		{"gap before", []string{loading + newSession + aTurn + aGap, loading + load + loaded}, nil},
		{"gap between", []string{loading + newSession + aTurn, loading + aGap, loading + load + loaded}, nil},
		{"gap in the load", []string{loading + newSession + aTurn, loading + load + aGap + loaded}, nil},
		{"refused", []string{loading + newSession, loading + load + refused}, []string{"ACP225"}},
		{"refused, foreign", []string{loading + newSession, loading + `> {"id":5,"method":"session/load","params":{"sessionId":"s2","cwd":"/w","mcpServers":[]}}` + "\n" + refused}, nil},
		{"refused, deleted", []string{loading + newSession, loading + aDeletion, loading + load + refused}, nil},
		{"refused, gap between", []string{loading + newSession, loading + aGap, loading + load + refused}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conform.NewChecker(conform.Options{Beginning: true})
			var frames []dialect.Frame
			for i, lines := range tt.tapes {
				if i > 0 {
					c.Next(true)
				}
				frames = framesOf(t, lines)
				for k := range frames {
					c.Add(&frames[k])
				}
			}
			c.End()
			last := slices.DeleteFunc(slices.Clone(c.Findings()), func(f conform.Finding) bool {
				return f.Tape < len(tt.tapes)-1 || f.Rule.ID == "ACP122" || f.Rule.ID == "ACP124"
			})
			if got := ids(last); !slices.Equal(got, tt.want) {
				t.Errorf("broken on the last tape: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAddLossy: the result of a comparison is a finding of ACP223, once for each replay that
// can be judged.
func TestAddLossy(t *testing.T) {
	const text = "replayed 1 of 2 messages"
	run := func(lines string) *conform.Checker {
		c := check(framesOf(t, lines))
		return c
	}
	c := run(loading + newSession + aTurn + load + history + loaded)
	const request = 8
	if !c.AddLossy(request, text) {
		t.Fatal("the load is not known")
	}
	if c.AddLossy(request, text) {
		t.Error("the load is judged twice")
	}
	f := c.Findings()[len(c.Findings())-1]
	if f.Rule.ID != "ACP223" || f.Fault != conform.Agent || f.Strength != conform.Warning || f.Text != text || f.Session != "s1" || f.Method != "session/load" || f.Seq != request+2 {
		t.Errorf("the finding is %+v", f)
	}
	for _, v := range c.Verdicts() {
		if v.Rule.ID == "ACP223" && (!v.Tried || v.Found != 1) {
			t.Errorf("the verdict is %+v", v)
		}
	}
	for name, lines := range map[string]string{
		"another frame":  loading + newSession + load + history + loaded, // there it is frame 5
		"nothing at all": loading + newSession + aTurn + load + loaded,   // ACP221
		"refused":        loading + newSession + aTurn + load + refused,
		"gap":            loading + newSession + aTurn + load + aGap + history + loaded,
	} {
		if run(lines).AddLossy(request, text) {
			t.Errorf("%s: a finding", name)
		}
	}
	c = run(loading + newSession + aTurn + load + history + loaded)
	c.Next(true)
	if c.AddLossy(request, text) {
		t.Error("a finding on the next tape")
	}
}
