package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// dialectTapes returns the tapes that were made by hand from the protocols'
// texts, one for each dialect and proposal, by name.
func dialectTapes(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../testdata/tapes/dialects/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got tapes %v, %v", paths, err)
	}
	tapes := make(map[string][]byte)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tapes[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = text
	}
	return tapes
}

func tapeIn(t testing.TB, text []byte) *record.Tape {
	t.Helper()
	tape, err := record.ReadPortable(bytes.NewReader(text), "tape")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// The tape of each dialect, played as the agent, suits its own client, also one
// that makes other ids.
func TestDialectsAgent(t *testing.T) {
	for name, text := range dialectTapes(t) {
		for _, r := range robots {
			t.Run(name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				recorded := renamed(t, text, nobody)
				checkRobot(t, r, tapeIn(t, recorded), replay.Agent{Cwd: "/srv/garden"})
				if !r.stringIDs { // of such a one they are others already
					checkRobot(t, r, tapeIn(t, renamed(t, text, client)), replay.Agent{Tapes: []*record.Tape{tapeIn(t, recorded)}, Cwd: "/srv/garden"})
				}
			})
		}
	}
}

// The tape of each dialect, played as the client, has the same conversation with
// its own agent, also with one that makes other ids.
func TestDialectsClient(t *testing.T) {
	for name, text := range dialectTapes(t) {
		for _, whose := range []party{nobody, agent} {
			t.Run(name+"/"+string(whose), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "agent.jsonl")
				if err := os.WriteFile(path, renamed(t, text, whose), 0o600); err != nil {
					t.Fatal(err)
				}
				then := replay.Side{Tapes: []*record.Tape{tapeIn(t, renamed(t, text, nobody))}}
				store := record.OpenStore(t.TempDir())
				report, diff, said, err := playing(t, replay.Client{Tapes: then.Tapes, Start: part("tape", path), Store: store, Level: replay.Content})
				if err != nil || len(report.Notes) > 0 || len(report.Tapes) != 1 {
					t.Fatalf("got %v\n%v\n%s\n%s", err, report, diff, said)
				}
				if !strings.HasSuffix(said, "<nil>") || strings.Contains(said, "note: ") {
					t.Errorf("the agent says %s", said)
				}
				tape, err := store.Open(report.Tapes[0])
				if err != nil {
					t.Fatal(err)
				}
				now := replay.Side{Tapes: []*record.Tape{tape}}
				for _, pair := range [][2]replay.Side{{then, then}, {now, now}, {now, then}} {
					if diff, err := replay.Compare(pair[0], pair[1], replay.Content); err != nil || !diff.Same() {
						t.Errorf("got %v, %v", diff, err)
					}
				}
			})
		}
	}
}

// A party makes ids.
type party string

const (
	nobody party = "nobody"
	client party = "client"
	agent  party = "agent"
)

func (p party) other() party {
	if p == client {
		return agent
	}
	return client
}

// renamed returns a portable tape on which one party makes other ids, and the
// other gives those back. Whose an id is, is told here from the protocols' texts
// and from the tapes: dialect.Place has to agree.
func renamed(t testing.TB, text []byte, whose party) []byte {
	t.Helper()
	r := renamer{whose: whose, methods: make(map[string]string)}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for line := range bytes.Lines(text) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var one map[string]any
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		from := agent
		if one["dir"] == wire.ClientToAgent.String() {
			from = client
		}
		switch frame := one["frame"].(type) {
		case map[string]any:
			r.message(from, frame)
		case []any:
			for _, entry := range frame {
				r.message(from, entry.(map[string]any))
			}
		}
		if err := e.Encode(one); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

type renamer struct {
	whose   party
	methods map[string]string // of requests, by who sent them and their id
	kind    string            // of sessions, where one id may stand for two
}

func (r *renamer) message(from party, m map[string]any) {
	method, asks := m["method"].(string)
	id, has := m["id"]
	asker := from
	if !asks {
		asker = from.other()
	}
	if has {
		key := string(asker) + " " + spelled(id)
		if asks {
			r.methods[key] = method
		}
		method = r.methods[key]
		m["id"] = r.renamed(id, asker)
	}
	if strings.HasPrefix(method, "nes/") || strings.HasPrefix(method, "document/") {
		r.kind = "edits "
		defer func() { r.kind = "" }()
	}
	for _, key := range []string{"sessionId", "params", "result", "error"} {
		if v, ok := m[key]; ok {
			m[key] = r.walk(v, key, "", func(key, under string, v any) party { return makerOf(from, method, asks, key, under, spelled(v)) })
		}
	}
}

// makerOf returns who made the value under a key, in an object under another.
func makerOf(from party, method string, asks bool, key, under, value string) party {
	if strings.HasSuffix(value, `-9"`) {
		return nobody // it was never made, or behind one of the two
	}
	switch key {
	case "requestId":
		if method == "elicitation/create" {
			return client
		}
		return from
	case "progressToken":
		if method == "notifications/progress" {
			return from.other()
		}
		return from
	case "io.modelcontextprotocol/subscriptionId", "serverId", "connectionId":
		return client
	case "terminalId":
		if strings.HasPrefix(value, `"term-`) {
			return client
		}
		return agent
	case "taskId":
		// The side that works on the task.
		toWorker := strings.HasPrefix(method, "tasks/")
		if asks && toWorker || !asks && !toWorker && under == "io.modelcontextprotocol/related-task" {
			return from.other()
		}
		return from
	case "sessionId", "toolCallId", "messageId", "optionId", "elicitationId", "cursor", "nextCursor", "requestState":
		return agent
	case "state":
		if under == "io.modelcontextprotocol/session" || under == "session" {
			return agent
		}
	}
	return nobody
}

func (r *renamer) walk(v any, key, under string, maker func(key, under string, v any) party) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = r.walk(v[k], k, key, maker)
		}
		return v
	case []any:
		for i := range v {
			v[i] = r.walk(v[i], key, under, maker)
		}
		return v
	}
	return r.renamed(v, maker(key, under, v))
}

func (r *renamer) renamed(v any, maker party) any {
	if maker != r.whose || maker == nobody {
		return v
	}
	return "new " + r.kind + strings.Trim(spelled(v), `"`)
}

func spelled(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
