package dialect

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// TestLike adds a method that acts like another: a block of its own is all it takes.
func TestLike(t *testing.T) {
	before := table
	defer func() { table = before }()
	made := readMethods(methodsText+"\nacp session/continue\n\tlike session/resume\n", namesText+"acp session/continue client request v2\n")
	table = func() *methodTable { return made }

	tracker := NewTracker(ACP)
	var opened Annotation
	var facts SessionFacts
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c"}}}`,
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/continue","params":{"sessionId":"s","cwd":"/w"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		e := wire.Scan([]byte(line))
		f := wire.Frame{Seq: uint64(i + 1), Dir: wire.Direction(i % 2), Kind: e.Kind, Raw: []byte(line)}
		opened, facts = tracker.Observe(&f, e)
	}
	if opened.Method != "session/continue" || opened.Session != "s" || !opened.Events.Has(SessionOpened) || facts.Cwd != "/w" {
		t.Errorf("got %+v, %+v", opened, facts)
	}
	if !Does("session/continue", Restores) || Does("session/continue", Loads) || AreaOf("session/continue", "") != NoArea {
		t.Errorf("got roles %b, area %d", RoleOf(ACP, "session/continue"), AreaOf("session/continue", ""))
	}
	if got := MatchFields("session/continue", []byte(`{"sessionId":"s","cwd":"/w"}`)); len(got) != 1 || got[0].Class != SessionID {
		t.Errorf("got %v", got)
	}
	if got := SessionPath("session/continue", nil); got != "params.sessionId" {
		t.Errorf("got %q", got)
	}
	m, _ := Lookup(ACP, "session/continue")
	if m.Stable != two || m.Removed != 0 || m.From != ClientSide || m.Form != AsRequest {
		t.Errorf("got %+v", m)
	}
}

// TestNames checks that each published name is in methods.txt, where its meaning is.
func TestNames(t *testing.T) {
	known := readMethods(methodsText, "")
	for line := range strings.Lines(namesText) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		if p := named[Protocol](protocolNames[:], words[0]); known.of(p)[words[1]] == nil {
			t.Errorf("methods.txt does not have %s %s", words[0], words[1])
		}
	}
}
