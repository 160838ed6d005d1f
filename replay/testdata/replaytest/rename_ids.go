package replaytest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// A Party makes ids.
type Party string

const (
	Nobody Party = "nobody"
	Client Party = "client"
	Agent  Party = "agent"
)

func (p Party) other() Party {
	if p == Client {
		return Agent
	}
	return Client
}

// Renamed returns a portable tape on which one party makes other ids, and the other party
// uses them. The renamer decides whose an id is from the text of the protocols and from the
// tapes: dialect.IDLocations must agree.
func Renamed(t testing.TB, text []byte, whose Party) []byte {
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
		from := Agent
		if one["dir"] == wire.ClientToAgent.String() {
			from = Client
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
	whose   Party
	methods map[string]string // of requests, by who sent them and their id
	kind    string            // of sessions: one id may mean two
}

func (r *renamer) message(from Party, m map[string]any) {
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
			m[key] = r.walk(v, key, "", func(key, under string, v any) Party { return makerOf(from, method, asks, key, under, spelled(v)) })
		}
	}
}

// makerOf returns who made the value under a key, in an object under another.
func makerOf(from Party, method string, asks bool, key, under, value string) Party {
	if strings.HasSuffix(value, `-9"`) {
		return Nobody // it was never made, or by neither of the two
	}
	switch key {
	case "requestId":
		if method == "elicitation/create" {
			return Client
		}
		return from
	case "progressToken":
		if method == "notifications/progress" {
			return from.other()
		}
		return from
	case "io.modelcontextprotocol/subscriptionId", "serverId", "connectionId":
		return Client
	case "terminalId":
		if strings.HasPrefix(value, `"term-`) {
			return Client
		}
		return Agent
	case "taskId":
		// The side that works on the task.
		toWorker := strings.HasPrefix(method, "tasks/")
		if asks && toWorker || !asks && !toWorker && under == "io.modelcontextprotocol/related-task" {
			return from.other()
		}
		return from
	case "sessionId", "toolCallId", "messageId", "optionId", "elicitationId", "cursor", "nextCursor", "requestState":
		return Agent
	case "state":
		if under == "io.modelcontextprotocol/session" || under == "session" {
			return Agent
		}
	}
	return Nobody
}

func (r *renamer) walk(v any, key, under string, maker func(key, under string, v any) Party) any {
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

func (r *renamer) renamed(v any, maker Party) any {
	if maker != r.whose || maker == Nobody {
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
