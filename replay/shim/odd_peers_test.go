package shim_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/replay/shim"
)

var odd = flag.Int("odd", 200, "how many odd conversations TestOdd has")

// plain is a correct conversation, before something in it becomes odd. > is the client, < the
// agent.
var plain = map[string][]string{
	"v1": {
		`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"plan":{},"session":{"compaction":{}}}}}`,
		`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"embeddedContext":true},"sessionCapabilities":{"list":{},"close":null},"_meta":{"x":1}}}}`,
		`> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}`,
		`< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1","modes":{"currentModeId":"a","availableModes":[{"id":"a"}]},"configOptions":[{"id":"o"}]}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[],"_meta":{"x":1}}}`,
		`= {"sessionId":"s2","modes":{"currentModeId":"a"},"configOptions":[]}`,
		`> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"/go on"},{"type":"image","data":"AA"}]}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"go on"}}}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"user_message","content":[{"type":"text","text":"go on"},{"type":"resource","resource":{"uri":"acptap://session/old/transcript"}}]}}}`,
		`< {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s2","toolCall":{"toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]},"options":[]}}`,
		`> {"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"selected","optionId":"o"}}}`,
		`< {"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"requestId":3,"mode":"form"}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"current_mode_update","currentModeId":"b"}}}`,
		`< {"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"plan","entries":[]}}}}`,
		`< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`,
		`> {"jsonrpc":"2.0","id":4,"method":"session/set_mode","params":{"sessionId":"old","modeId":"b"}}`,
		`< {"jsonrpc":"2.0","id":4,"result":{"configOptions":[{"id":"o"}]}}`,
		`> {"jsonrpc":"2.0","id":5,"method":"session/list","params":{"cwd":"/w","cursor":null}}`,
		`< {"jsonrpc":"2.0","id":5,"result":{"sessions":[{"sessionId":"s2","cwd":"/w"},{"sessionId":"s3"}],"nextCursor":null}}`,
		`> {"jsonrpc":"2.0","id":6,"method":"session/fork","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`,
		`= {"sessionId":"s4"}`,
		`> {"jsonrpc":"2.0","id":7,"method":"session/resume","params":{"sessionId":"old","cwd":"/w"}}`,
		`> {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`,
		`> {"jsonrpc":"2.0","id":8,"method":"session/delete","params":{"sessionId":"s1"}}`,
		`> {"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"old"}}`,
		`< {"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"no","data":{"sessionId":"s2"}}}`,
	},
	"v2": {
		`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"e","version":"1"}}}`,
		`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{"session":{"prompt":{"embeddedContext":{}},"load":null},"_meta":{}},"info":{"name":"a","version":"1"}}}`,
		`> {"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"old","cwd":"/w","mcpServers":[],"replayFrom":{"type":"start"}}}`,
		`< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		`= {"sessionId":"s2","configOptions":[]}`,
		`> [{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"go on"}]}},{"jsonrpc":"2.0","method":"x"}]`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"user_message","messageId":"m","content":[{"type":"text","text":"go on"}]}}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"state_update","state":"running"}}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"config_option_update","configOptions":[{"id":"o"}]}}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{}}`,
		`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"state_update","state":"idle"}}}`,
		`> {"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}`,
		`< {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}`,
		`> {"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"old"}}`,
		`< {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}`,
	},
}

// old is on the tape of the session that is loaded. It ends in the middle of a turn.
var old = []string{
	`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
	`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
	`> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
	`< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"old"}}`,
	`> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"begin"}]}}`,
	`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"yes"},"_meta":{}}}}`,
	`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"plan","entries":[{"content":"x"}]}}}`,
	`< {"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"old","command":"ls","args":["-l"]}}`,
	`> {"jsonrpc":"2.0","id":9,"result":{"terminalId":"t"}}`,
	`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2025-01-02T03:04:05Z"}}}`,
	`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"read","status":"pending","content":[{"type":"terminal","terminalId":"t"},{"type":"diff","path":"x","oldText":null,"newText":"y"},{"type":"content","content":{"type":"text","text":"z"}}],"locations":[{"path":"x"}],"rawInput":{},"_meta":{"x":1}}}}`,
}

// oddities are values that peers send in place of others.
var oddities = []string{
	`[]`, `{}`, `null`, `""`, `0`, `true`, `-1`, `1e999`, `[[]]`, `[{}]`, `[null]`, `{"":0}`, `"\ud800"`, `"2"`, `[1,2,3]`, `{"sessionId":[]}`, `"old"`,
	strings.Repeat("[", 2000) + strings.Repeat("]", 2000), strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
	`"` + strings.Repeat("huge ", 20000) + `"`,
}

// bend makes a JSON text odd: one value is replaced, removed or duplicated.
func bend(r *rand.Rand, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	type place struct{ replace func(any) }
	places := []place{}
	var visit func(v any, replace func(any))
	visit = func(v any, replace func(any)) {
		if replace != nil {
			places = append(places, place{replace})
		}
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				visit(inner, func(n any) {
					if v[key] = n; n == nil {
						delete(v, key)
					}
				})
			}
		case []any:
			for i, inner := range v {
				visit(inner, func(n any) { v[i] = n })
			}
		}
	}
	visit(v, nil)
	if len(places) == 0 || r.IntN(50) == 0 {
		return oddities[r.IntN(len(oddities))]
	}
	const mark = "HERE"
	value := oddities[r.IntN(len(oddities))]
	p := places[r.IntN(len(places))]
	if r.IntN(10) == 0 {
		p.replace(nil)
	} else {
		p.replace(mark)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text
	}
	bent := string(b)
	if at := strings.Index(bent, `:"`+mark); at > 0 && r.IntN(5) == 0 { // its key, with another value before or after it
		key := bent[strings.LastIndexAny(bent[:at], `{,`)+1 : at]
		first, second := value, oddities[r.IntN(len(oddities))]
		return strings.Replace(bent, `"`+mark+`"`, first+","+key+":"+second, 1)
	}
	return strings.Replace(bent, `"`+mark+`"`, value, 1)
}

// However odd the agent's answers, the client's messages or the tape are, the shim continues,
// and so does the next conversation.
func TestOdd(t *testing.T) {
	n := *odd
	if testing.Short() {
		n = min(n, 20)
	}
	whole := oddStore(t, old)
	for seed := range n {
		r := rand.New(rand.NewPCG(13, uint64(seed)))
		lines := bendOne(r, plain[[]string{"v1", "v2"}[seed%2]])
		dir, tape := whole, []string(nil)
		if seed%5 == 0 {
			tape = bendOne(r, old)
			dir = oddStore(t, tape)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			converseOddly(t, dir, lines, seed%3 == 0)
		})
	}
}

// Empty maps encoded as lists, as some languages do.
func TestEmptyLists(t *testing.T) {
	lists := strings.NewReplacer(`{}`, `[]`, `null`, `[]`, `{"x":1}`, `[]`)
	for version, lines := range plain {
		bent := slices.Clone(lines)
		for i := range bent {
			bent[i] = lists.Replace(bent[i])
		}
		tape := slices.Clone(old)
		tape[len(tape)-1] = lists.Replace(tape[len(tape)-1])
		s := converseOddly(t, oddStore(t, tape), bent, false)
		if all := strings.Join(s.sent[wire.AgentToClient], "\n"); version == "v1" && (!strings.Contains(all, `"loadSession":true`) || !strings.Contains(all, `"cutOff":true`)) {
			t.Errorf("got\n%s", all)
		}
	}
	s := newStand(t, t.TempDir(), nil)
	s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":[]}}`)
	m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Exists() })
	if !m.Get("result.agentCapabilities.loadSession").Bool() || !m.Get("result.agentCapabilities._meta.acptap.shim").IsArray() {
		t.Errorf("the client gets %s", m.Raw())
	}
}

// bendOne returns the lines with one or two of them odd.
func bendOne(r *rand.Rand, lines []string) []string {
	lines = append([]string{}, lines...)
	for range 1 + r.IntN(2) {
		i := r.IntN(len(lines))
		lines[i] = lines[i][:2] + bend(r, lines[i][2:])
	}
	return lines
}

// oddStore makes a store with one session recorded from lines.
func oddStore(t testing.TB, lines []string) string {
	t.Helper()
	dir := t.TempDir()
	oddStoreIn(t, dir, lines)
	return dir
}

func oddStoreIn(t testing.TB, dir string, lines []string) {
	t.Helper()
	journal := recordtest.Record(t, record.OpenStore(dir), record.Start{Name: "agent", Command: []string{"x"}, Proto: "acp"})
	for _, line := range lines {
		if err := journal.Append(dirOf(line), wire.Wire, []byte(line[2:]+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	journal.Wait()
	if err := sealAll(dir); err != nil {
		t.Fatal(err)
	}
}

// sealAll seals all ended tapes in a store: there may have been no time for that when they
// ended.
func sealAll(dir string) error {
	return record.OpenStore(dir).Recover(func() bool { return false }, nil)
}

func dirOf(line string) wire.Direction {
	if line[0] == '<' {
		return wire.AgentToClient
	}
	return wire.ClientToAgent
}

// converseOddly passes lines to a shim. A line with = is the result of the shim's next own
// request, if there is one. Time does not pass meanwhile.
func converseOddly(t *testing.T, dir string, lines []string, raw bool) (s *stand) {
	t.Helper()
	said := map[string]bool{}
	synctest.Test(t, func(t *testing.T) {
		s = newStand(t, dir, func(s *shim.Shim) { s.Fork, s.Raw = true, raw })
		for _, line := range lines {
			dir, text := dirOf(line), line[2:]
			if line[0] == '=' {
				synctest.Wait()
				ids := s.asked()
				if len(ids) == 0 {
					continue
				}
				dir, text = wire.AgentToClient, `{"jsonrpc":"2.0","id":`+ids[0]+`,"result":`+text+`}`
			}
			said[text] = true
			s.say(dir, text)
		}
		<-s.end(wire.ClientToAgent)
		<-s.end(wire.AgentToClient)
		s.shim.Close()
	})
	for _, sent := range slices.Concat(s.sent[:]...) {
		if !json.Valid([]byte(sent)) && !said[sent] {
			t.Errorf("it sends %.500s", sent)
		}
	}
	return s
}

// Whatever client and agent send, the shim continues, its output is JSON, and its memory is
// proportional to the input.
func FuzzMessages(f *testing.F) {
	for _, lines := range plain {
		f.Add([]byte(strings.Join(lines, "\n")), false)
		f.Add([]byte(strings.Join(lines, "\n")), true)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f.Add([]byte(strings.Join(bendOne(r, plain["v1"]), "\n")), false)
		f.Add([]byte(strings.Join(bendOne(r, plain["v2"]), "\n")), false)
	}
	dir := f.TempDir()
	oddStoreIn(f, dir, old)
	f.Fuzz(func(t *testing.T, said []byte, raw bool) {
		var lines []string
		for _, line := range strings.Split(string(said), "\n") {
			if len(line) > 2 && strings.Contains("<>=", line[:1]) {
				lines = append(lines, line)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		converseOddly(t, dir, lines, raw)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+1000*len(said)); got > most {
			t.Errorf("%d bytes take %d", len(said), got)
		}
	})
}
