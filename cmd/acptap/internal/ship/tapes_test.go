package ship_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/spans"
)

// TestServers: the calls to a server are children of the agent's tool calls that led to them,
// or of the turn if that is all that is known; requests that a server makes during a call are
// children of the call.
func TestServers(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	for _, name := range []string{"agent", "everything", "issues"} {
		text, err := os.ReadFile(filepath.Join("../../../../testdata/nested", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, string(text))
	}
	above := parents(t, store, "20260301T090000000-agents", "20260301T090000500-everyt", "20260301T090000600-jssves")
	for call, want := range map[string]string{
		"everyt initialize":                             "everyt acptap.connection",
		"everyt tools/call get-sum":                     "agents execute_tool other",
		"everyt tools/call trigger-elicitation-request": "agents execute_tool other",
		"everyt elicitation/create":                     "everyt tools/call trigger-elicitation-request",
		"everyt resources/read":                         "agents invoke_agent coder",
		"jssves tools/call list_issues":                 "agents execute_tool other",
	} {
		if got := above[call]; got != want {
			t.Errorf("%s: got %q above it, want %q", call, got, want)
		}
	}
}

// TestServerAlone: without the tape of the agent, calls are below the connection.
func TestServerAlone(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	text, err := os.ReadFile("../../../../testdata/nested/issues.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(t, store, string(text))
	above := parents(t, store, "20260301T090000600-jssves")
	if got, want := above["jssves tools/call list_issues"], "jssves acptap.connection"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const begins = `{"acptap":1,"tape":"20260301T09000%s000-%s","started":"2026-03-01T09:00:0%sZ","name":"coder","command":["coder"]}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"at":0.1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
`

// tape returns a tape that begins in a second of a minute.
func tape(second, letters, lines string) string {
	return strings.NewReplacer("0%s000-%s", "0"+second+"000-"+letters, "0%sZ", "0"+second+"Z").Replace(begins) + lines
}

func prompt(id, session string) string {
	return `{"at":0.3,"dir":"c2a","frame":{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[]}}}
{"at":0.4,"dir":"a2c","frame":{"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"end_turn"}}}
`
}

func setup(method, params, result string) string {
	return `{"at":0.2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"cwd":"/","mcpServers":[]` + params + `}}}
{"at":0.2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{` + result + `}}}
`
}

// TestSessions: a session continues after its last turn on an earlier tape, and a fork after
// the last turn of its parent.
func TestSessions(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	put(t, store, tape("1", "aaaaaa", setup("session/new", "", `"sessionId":"one"`)+prompt("2", "one")+prompt("3", "one")))
	put(t, store, tape("2", "bbbbbb", setup("session/new", "", `"sessionId":"two"`)+prompt("2", "two")))
	put(t, store, tape("3", "cccccc", setup("session/load", `,"sessionId":"one"`, "")+prompt("2", "one")))
	put(t, store, tape("4", "dddddd", setup("session/fork", `,"sessionId":"one"`, `"sessionId":"three"`)+prompt("2", "three")))
	put(t, store, tape("5", "eeeeee", setup("session/new", "", `"sessionId":"one"`)+prompt("2", "one"))) // another session with that id
	turns := map[string][]spans.Span{}
	for _, set := range build(t, store, ids(t, store)...) {
		for _, s := range set.Spans {
			if s.Kind == spans.Turn {
				on := text(s, "acptap.tape")
				turns[on[len(on)-6:]] = append(turns[on[len(on)-6:]], s)
			}
		}
	}
	for on, want := range map[string]struct {
		kind string
		last spans.Span
	}{
		"cccccc": {"previous turn", turns["aaaaaa"][1]},
		"dddddd": {"forked from", turns["cccccc"][0]},
		"eeeeee": {"connection", spans.Span{}},
	} {
		link := turns[on][0].Links[0]
		if kind := link.Attrs[0].Value; kind != want.kind || want.last.Name != "" && (link.Trace != want.last.Trace || link.ID != want.last.ID) {
			t.Errorf("%s: the first link is %v to %v", on, kind, link.ID)
		}
	}
}

func put(t *testing.T, store *record.Store, text string) {
	t.Helper()
	if _, err := store.Import(strings.NewReader(text), "test", nil); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, store *record.Store) []string {
	t.Helper()
	tapes, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	return tapes
}

// build returns the spans of tapes, each read by itself.
func build(t *testing.T, store *record.Store, tapes ...string) (sets []spans.Set) {
	t.Helper()
	r := ship.Tapes{Store: store}
	for _, id := range tapes {
		one, err := store.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		info, err := one.Info()
		if err != nil {
			t.Fatal(err)
		}
		about, err := r.Describe(one, &info)
		if err != nil {
			t.Fatal(err)
		}
		var b spans.Builder
		b.Next(about)
		for f, err := range one.Frames(1) {
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, b.Add(&f)...)
		}
		sets = append(sets, b.End()...)
	}
	return sets
}

// parents returns the parent of each span: the letters of its tape and its name.
func parents(t *testing.T, store *record.Store, tapes ...string) map[string]string {
	t.Helper()
	names := map[spans.Ref]string{}
	above := map[string]spans.Ref{}
	for _, set := range build(t, store, tapes...) {
		for _, s := range set.Spans {
			on := text(s, "acptap.tape")
			name := on[len(on)-6:] + " " + s.Name
			names[spans.Ref{Trace: s.Trace, ID: s.ID}] = name
			above[name] = spans.Ref{Trace: s.Trace, ID: s.Parent}
		}
	}
	list := map[string]string{}
	for name, ref := range above {
		list[name] = names[ref]
	}
	return list
}

// text returns an attribute; "" if there is none.
func text(s spans.Span, name string) string {
	for _, a := range s.Attrs {
		if a.Name == name {
			return a.Value.(string)
		}
	}
	return ""
}
