package shim_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A session whose mode, model and options were changed.
var configured = []string{
	`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
	`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
	`> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
	`< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"old","modes":{"currentModeId":"ask","availableModes":[]},"models":{"currentModelId":"small","availableModels":[]},"configOptions":[` +
		`{"id":"effort","type":"select","currentValue":"low"},{"id":"web","type":"boolean","currentValue":false}]}}`,
	`> {"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"old","modeId":"plan"}}`,
	`< {"jsonrpc":"2.0","id":2,"result":{}}`,
	`> {"jsonrpc":"2.0","id":3,"method":"session/set_model","params":{"sessionId":"old","modelId":"large"}}`,
	`< {"jsonrpc":"2.0","id":3,"result":{}}`,
	`> {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"begin"}]}}`,
	`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"config_option_update","configOptions":[` +
		`{"id":"effort","type":"select","currentValue":"high"},{"id":"web","type":"boolean","currentValue":true}]}}}`,
	`< {"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}`,
}

// After a load that the shim serves, the agent gets the recorded settings that its new
// session offers, and the client learns the resulting settings.
func TestSettingsAreRestored(t *testing.T) {
	const (
		modes  = `"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"plan"}]}`
		models = `"models":{"currentModelId":"small","availableModels":[{"modelId":"small"},{"modelId":"large"}]}`
		effort = `{"id":"effort","type":"select","currentValue":"low","options":[{"group":"g","options":[{"value":"low"},{"value":"high"}]}]}`
		web    = `{"id":"web","type":"boolean","currentValue":false}`
		done   = `"result":{}`
		wrong  = `"error":{"code":-32603,"message":"no"}`
	)
	mode := `session/set_mode {"modeId":"plan","sessionId":"new"}`
	model := `session/set_model {"modelId":"large","sessionId":"new"}`
	option := `session/set_config_option {"configId":"effort","value":"high","sessionId":"new"}`
	flag := `session/set_config_option {"configId":"web","type":"boolean","value":true,"sessionId":"new"}`
	for _, tt := range []struct {
		name     string
		made     string   // members of the result of session/new
		asked    []string // the requests that the agent must get
		answers  []string // the answer to each of them; "": none
		answered string   // the result that the client gets
	}{
		{"offers nothing", ``, nil, nil, `{}`},
		{"has other values", `,"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"}]},"configOptions":[{"id":"effort","type":"select","options":[{"value":"low"}]},{"id":"web","type":"select","options":[]}]`, nil, nil,
			`{"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"}]},"configOptions":[{"id":"effort","type":"select","options":[{"value":"low"}]},{"id":"web","type":"select","options":[]}]}`},
		{"has the values", strings.ReplaceAll(","+modes, `"ask",`, `"plan",`), nil, nil, "{" + strings.ReplaceAll(modes, `"ask",`, `"plan",`) + "}"},
		{"mode", "," + modes, []string{mode}, []string{done}, "{" + strings.Replace(modes, "ask", "plan", 1) + "}"},
		{"mode and model", "," + modes + "," + models, []string{mode, model}, []string{done, done},
			"{" + strings.Replace(modes, "ask", "plan", 1) + "," + strings.Replace(models, "small", "large", 1) + "}"},
		{"refuses the mode", "," + modes + "," + models, []string{mode, model}, []string{wrong, done},
			"{" + modes + "," + strings.Replace(models, "small", "large", 1) + "}"},
		{"does not answer", "," + modes + "," + models, []string{mode}, []string{""}, "{" + modes + "," + models + "}"},
		{"options", `,"configOptions":[` + effort + `]`, []string{option, flag},
			[]string{`"result":{"configOptions":[` + web + `]}`, `"result":{"configOptions":[]}`}, `{"configOptions":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := oddStore(t, configured)
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, dir, func(s *shim.Shim) { s.Patience = time.Second })
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
				s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
				var asked []string
				for i, answer := range append([]string{`"result":{"sessionId":"new"` + tt.made + `}`}, tt.answers...) {
					id := fmt.Sprint("acptap:", i+1)
					m := s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("id").Text() == id })
					if asked = append(asked, m.Get("method").Text()+" "+m.Get("params").Raw()); answer != "" {
						s.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, id, answer))
					}
				}
				m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == "1" })
				if diff := cmp.Diff(tt.answered, m.Get("result").Raw()); diff != "" {
					t.Errorf("the load is answered with (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(strings.Join(tt.asked, "\n"), strings.Join(asked[1:], "\n")); diff != "" {
					t.Errorf("the agent is asked (-want +got)\n%s", diff)
				}
				if n := len(s.asked()); n != len(asked) {
					t.Errorf("the agent is asked %d times, want %d", n, len(asked))
				}
				s.shim.Close()
			})
		})
	}
}

// The tape says that acptap has set the mode, and the next load sets it again. Settings of
// another agent, and imported ones, are not restored.
func TestRestoredSettingsOnTape(t *testing.T) {
	c := character{Script: []string{hello}, Random: true, Session: `,"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"plan"}]}`}
	dir := t.TempDir()
	cl := start(t, dir, c, nil)
	cl.initialize()
	id := cl.new()
	cl.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, id))
	cl.prompt(id, "turn 0")
	cl.stop()
	for range 2 {
		cl := start(t, dir, c, nil)
		cl.initialize()
		if _, result := cl.load(id); result.Get("modes.currentModeId").Text() != "plan" {
			t.Errorf("the load is answered with %s", result.Raw())
		}
		cl.stop()
	}
	store := record.OpenStore(dir)
	listing, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(listing.Sessions); n != 1 {
		t.Errorf("the store has %d sessions, want 1", n)
	}
	tape, err := store.Open(listing.Tapes[2].Tape)
	if err != nil {
		t.Fatal(err)
	}
	injected := 0
	for f, err := range tape.Frames(1) {
		if err == nil && f.Kind == wire.Request && f.Method == "session/set_mode" && f.Origin == wire.Injected {
			injected++
		}
	}
	if injected != 1 {
		t.Errorf("the last tape has %d injected requests to set the mode, want 1", injected)
	}
	importSession(t, dir, id)
	for name, change := range map[string]func(*shim.Shim){
		"another agent": func(s *shim.Shim) { s.Agent, s.AnyAgent = "another", true },
		"imported":      imported,
	} {
		cl := start(t, dir, c, change)
		cl.initialize()
		if _, result := cl.load(id); result.Get("modes.currentModeId").Text() != "ask" {
			t.Errorf("%s: the load is answered with %s", name, result.Raw())
		}
		cl.stop()
	}
}
