package shim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/shim"
)

// A writer writes what an agent does in a turn.
type writer struct {
	*rand.Rand
	dialect string
	lines   strings.Builder
	n       int
	again   bool // ids are used again in each turn
	ids     int
	pending []string // may come at any time, in order
}

func (w *writer) name(prefix string) string {
	w.n++
	return fmt.Sprint(prefix, w.n)
}

func (w *writer) id(prefix string) string {
	if !w.again {
		return w.name(prefix)
	}
	w.ids++
	return fmt.Sprint(prefix, w.ids)
}

func (w *writer) add(format string, args ...any) {
	fmt.Fprintf(&w.lines, format+"\n", args...)
	for len(w.pending) > 0 && w.IntN(3) == 0 {
		w.lines.WriteString(w.pending[0] + "\n")
		w.pending = w.pending[1:]
	}
	if w.IntN(8) == 0 {
		w.lines.WriteString(`{"sessionUpdate":"usage_update","used":1,"size":2}` + "\n")
	}
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const image = `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}`

func (w *writer) message(role string) {
	id := ""
	if w.dialect != "v1" || w.IntN(2) == 0 {
		id = fmt.Sprintf(`"messageId":%q,`, w.id("m"))
	}
	if w.dialect == "v2" && w.IntN(3) == 0 {
		w.add(`{"sessionUpdate":"%s",%s"content":[{"type":"text","text":%s},%s]}`, role, id, quoted(w.name("whole ")), image)
	}
	for range 1 + w.IntN(4) {
		block := `{"type":"text","text":` + quoted(w.name("wörd\n😀 ")) + `}`
		if w.IntN(6) == 0 {
			block = image
		}
		w.add(`{"sessionUpdate":"%s_chunk",%s"content":%s}`, role, id, block)
	}
}

func (w *writer) tool() {
	id := w.id("call_")
	patch := func(fields string) {
		w.pending = append(w.pending, fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,%s}`, id, fields))
	}
	first := "tool_call_update"
	if w.dialect == "v1" || w.dialect == "early1" {
		first = "tool_call"
	}
	asked := fmt.Sprintf(`"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}],"toolCall":{"toolCallId":%q,"title":"asked"}`, id)
	if w.dialect == "v2" {
		asked = fmt.Sprintf(`"title":"May I?","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}],"subject":{"type":"tool_call","toolCall":{"toolCallId":%q,"title":"asked"}}`, id)
	}
	switch w.IntN(5) {
	case 0: // the question is the first frame about it
		w.add("ask session/request_permission %s", asked)
	case 1:
		w.add(`{"sessionUpdate":%q,"toolCallId":%q,"title":"announced"}`, first, id)
		w.add("ask session/request_permission %s", asked)
	default:
		w.add(`{"sessionUpdate":%q,"toolCallId":%q,"title":%q,"kind":"read","status":"pending","rawInput":{"a":[1,2]},"locations":[{"path":"/w/x","line":3}]}`, first, id, w.name("title "))
	}
	patch(`"status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"1"}}]`)
	patch(`"content":[{"type":"content","content":` + image + `}],"rawOutput":"out"`)
	if w.dialect == "v2" {
		w.pending = append(w.pending, fmt.Sprintf(`{"sessionUpdate":"tool_call_content_chunk","toolCallId":%q,"content":{"type":"content","content":{"type":"text","text":"more"}}}`, id))
		patch(`"rawOutput":null`)
	}
	if w.IntN(4) > 0 {
		patch(`"status":"` + []string{"completed", "failed"}[w.IntN(2)] + `"`)
	}
}

func (w *writer) plan() {
	entries := fmt.Sprintf(`[{"content":%s,"priority":"high","status":"pending"}]`, quoted(w.name("step ")))
	switch w.dialect {
	case "v1":
		w.add(`{"sessionUpdate":"plan","entries":%s}`, entries)
	case "v2":
		w.add(`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p%d","entries":%s}}`, w.IntN(2), entries)
	default:
		w.add(`{"sessionUpdate":"plan_update","plan":{"type":"items","id":"p%d","entries":%s}}`, w.IntN(2), entries)
	}
}

func (w *writer) terminal() {
	if w.dialect != "v2" {
		return
	}
	id := w.name("term_")
	w.add(`{"sessionUpdate":"terminal_update","terminalId":%q,"command":"make","cwd":"/w"}`, id)
	w.add(`{"sessionUpdate":"terminal_output_chunk","terminalId":%q,"data":"b3V0"}`, id)
	w.add(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"title":"run","status":"completed","content":[{"type":"terminal","terminalId":%q}]}`, w.name("call_"), id)
	w.add(`{"sessionUpdate":"terminal_update","terminalId":%q,"exitStatus":{"exitCode":1}}`, id)
}

// turn returns the script of a turn.
func (w *writer) turn() string {
	w.lines.Reset()
	w.ids = 0
	for range w.IntN(8) {
		switch w.IntN(6) {
		case 0:
			w.tool()
		case 1:
			w.plan()
		case 2:
			w.terminal()
		case 3:
			w.message("agent_thought")
		default:
			w.message("agent_message")
		}
	}
	for _, line := range w.pending {
		w.lines.WriteString(line + "\n")
	}
	w.pending = nil
	if w.IntN(4) == 0 {
		w.lines.WriteString(`{"sessionUpdate":"session_info_update","title":` + quoted(w.name("title ")) + "}\n")
	}
	return w.lines.String() + []string{"", "", "stop cancelled\n", "stop refusal\n"}[w.IntN(4)]
}

// After a load, a client can rebuild what it had before: both merged and raw, each time the
// same, in all dialects, in whatever order frames came and however often the session was
// loaded.
func TestGenerated(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		for _, d := range dialects {
			t.Run(fmt.Sprint(d, "/", seed), func(t *testing.T) {
				t.Parallel()
				generated(t, d, seed)
			})
		}
	}
}

func generated(t *testing.T, d string, seed uint64) {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), dialect: d, again: d == "v1" && seed%2 == 1}
	c := character{Dialect: d, Echoes: seed%2 == 0, Embeds: seed%3 == 0}
	for range 6 {
		c.Script = append(c.Script, w.turn())
	}
	dir := t.TempDir()
	cl := start(t, dir, c, nil)
	yes := func(wire.Value) string { return `{"outcome":{"outcome":"selected","optionId":"y"}}` }
	cl.answer = yes
	cl.initialize()
	ids := []string{cl.new(), cl.new()}
	turn := 0
	play := func(n int) {
		for range n {
			blocks := fmt.Sprintf(`[{"type":"text","text":"turn %d"}]`, turn%6)
			if w.IntN(3) == 0 {
				blocks = fmt.Sprintf(`[%s,{"type":"text","text":"turn %d"}]`, image, turn%6)
			}
			cl.promptBlocks(ids[turn%2], blocks)
			turn++
		}
	}
	play(4)
	cl.stop()
	for round := range 3 {
		var first []string
		for i, raw := range []bool{false, true, false} {
			cl = start(t, dir, c, func(s *shim.Shim) { s.Raw = raw })
			cl.answer = yes
			cl.initialize()
			var told []string
			for _, id := range ids {
				lines, _ := cl.load(id)
				checkUnique(t, lines)
				told = append(told, lines...)
			}
			switch i {
			case 0:
				first = told
			case 2:
				if diff := cmp.Diff(first, told); diff != "" {
					t.Errorf("round %d: the third load differs from the first\n%s", round, diff)
				}
				play(2)
			}
			cl.stop()
		}
	}
	compare(t, dir, ids)
}

// checkUnique fails if two tool calls are announced with one id.
func checkUnique(t *testing.T, lines []string) {
	t.Helper()
	announced := map[string]bool{}
	for _, line := range lines {
		u := wire.ValueAt(line, "params.update")
		if u.Get("sessionUpdate").Text() != "tool_call" {
			continue
		}
		id := u.Get("toolCallId").Text()
		if announced[id] {
			t.Errorf("two tool calls have the id %s", id)
		}
		announced[id] = true
	}
}

// compare compares what each tape with a load shows of a session with what all earlier tapes
// recorded live.
func compare(t *testing.T, dir string, ids []string) {
	t.Helper()
	store := record.OpenStore(dir)
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range l.Sessions {
		var live trace.Trace
		for i, run := range one.Runs {
			var alone trace.Trace
			tape, err := store.Open(run.Tape)
			if err != nil {
				t.Fatal(err)
			}
			info, err := tape.Info()
			if err != nil {
				t.Fatal(err)
			}
			before := outline(&live, one.ID, true)
			live.Next(info.Connection)
			alone.Next(info.Connection)
			loading := true
			for f, err := range tape.Frames(1) {
				if err != nil {
					t.Fatal(err)
				}
				live.Add(&f)
				loading = loading && (f.Method != "session/prompt" || f.Session != one.ID)
				if loading {
					alone.Add(&f)
				}
			}
			if i == 0 {
				continue
			}
			after := outline(&alone, one.ID, false)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s, run %d: before the restart (-), after the load (+)\n%s", one.ID, i, diff)
			}
		}
	}
	if len(l.Sessions) != len(ids) {
		t.Errorf("there are %d sessions, want %d", len(l.Sessions), len(ids))
	}
}

var prefixes = regexp.MustCompile(`"h\d+(-\d+)?\.`)

// outline returns what a client shows. For live entities it returns their expected final
// state.
func outline(tr *trace.Trace, id string, live bool) []string {
	var lines []string
	plan := "" // in version 1 the last plan replaces earlier ones
	for _, s := range tr.Sessions {
		if s.ID != id {
			continue
		}
		for _, e := range s.Conversation.Entities {
			if !live && !e.Replayed {
				continue
			}
			switch {
			case e.Message != nil:
				var blocks strings.Builder
				for _, b := range e.Message.Blocks.All() {
					if text := wire.ValueAt(b, "text"); text.Exists() {
						blocks.WriteString(text.Text())
					} else {
						blocks.Write(b)
					}
				}
				if blocks.Len() > 0 {
					lines = append(lines, fmt.Sprint(e.Message.Role, " ", blocks.String()))
				}
			case e.ToolCall != nil:
				c := *e.ToolCall
				c.Permissions, c.Unannounced, c.Meta = nil, false, nil
				if live && !c.Finished() {
					c.Status = "failed"
					if tr.Runs[e.Run].Dialect.String() != "v1" {
						c.Status = "cancelled"
					}
				}
				b, err := json.Marshal(c)
				if err != nil {
					panic(err)
				}
				lines = append(lines, prefixes.ReplaceAllString(string(b), `"`))
			case e.Plan != nil && e.Plan.ID == "":
				plan = "plan " + string(e.Plan.Raw)
			case e.Plan != nil:
				lines = append(lines, "plan "+prefixes.ReplaceAllString(string(e.Plan.Raw), `"`))
			case e.Terminal != nil:
				lines = append(lines, fmt.Sprintf("terminal %s %s %s", e.Terminal.Command, e.Terminal.Output, e.Terminal.Cwd))
			}
		}
	}
	if plan != "" {
		lines = append(lines, plan)
	}
	return lines
}
