package trace_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// Whatever the lines, nothing panics, what can be exported is JSON, text for a
// terminal has no control character of the wire's, and events tell of all that
// begins and ends.
func FuzzTrace(f *testing.F) {
	for _, begin := range []string{v1, v2early, v2, load} {
		f.Add(begin + prompt("2", "hi") + said("a") + reply("2", ended))
	}
	for _, fields := range []string{
		`"sessionUpdate":"tool_call","toolCallId":"c","title":null,"content":[{"type":"diff","oldText":"a","newText":7}],"locations":[1,{}]`,
		`"sessionUpdate":"tool_call_update","toolCallId":"c","content":{"a":[]},"locations":null,"rawOutput":"\u001b[2J"`,
		`"sessionUpdate":"tool_call_content_chunk","content":null`,
		`"sessionUpdate":"agent_message","messageId":"m","content":"x"`,
		`"sessionUpdate":"agent_message_chunk","content":[{"type":"text","text":"\u001b]0;x\u0007\u202e"}]`,
		`"sessionUpdate":"user_message","messageId":7`,
		`"sessionUpdate":"plan","entries":[7,{"content":[]}]`,
		`"sessionUpdate":"plan_update","plan":[]`,
		`"sessionUpdate":"terminal_update","terminalId":null,"output":{"data":"?"},"exitStatus":{"exitCode":1e99}`,
		`"sessionUpdate":"compaction_summary_chunk","content":{"type":"text","text":"\ud83d"}`,
		`"sessionUpdate":"compaction_update","summary":7,"error":{}`,
		`"sessionUpdate":"state_update","state":"idle","stopReason":7`,
		`"sessionUpdate":7`,
	} {
		f.Add(v1 + prompt("2", "hi") + update(fields))
		f.Add(v2 + prompt("2", "hi") + update(fields))
	}
	f.Add(v1 + ask("7", `"toolCall":[]`) + answer("7", `{"outcome":7}`))
	f.Fuzz(func(t *testing.T, text string) {
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		var tr trace.Trace
		brief := trace.Trace{Brief: true}
		var told, briefly []trace.Event
		seq := uint64(0)
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) < 2 {
				continue
			}
			seq++
			f := wire.Frame{Seq: seq, At: time.Duration(seq), Raw: []byte(line[2:]), Size: int64(len(line) - 2)}
			if line[0] == '<' {
				f.Dir = wire.AgentToClient
			}
			f.Origin = wire.Origin(line[1] % 4)
			e := wire.Scan(f.Raw)
			f.Kind, f.Failed = e.Kind, e.Error != nil
			about, _ := tracker.Observe(&f, e)
			frame := dialect.Frame{Frame: f, Annotation: about}
			tr.Add(&frame)
			brief.Add(&frame)
			told, briefly = append(told, tr.Events()...), append(briefly, brief.Events()...)
		}
		tr.End()
		brief.End()
		told, briefly = append(told, tr.Events()...), append(briefly, brief.Events()...)
		balanced(t, told)
		check(t, lines(briefly), lines(told))
		readable(t, &tr)
	})
}

// Whatever the values in the updates that are known, and in whatever order, the
// same holds. Each byte of the program picks a word or a value.
func FuzzUpdates(f *testing.F) {
	f.Add(uint8(0), []byte("some program of updates, as good as any other"))
	f.Add(uint8(2), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29})
	names := strings.Fields("messageId content toolCallId title kind status locations rawInput name entries plan planId terminalId " +
		"command output exitStatus data compactionId summary error state stopReason _meta cost used")
	values := []string{"null", "7", `"x"`, `"y"`, `""`, "[]", "{}", "[null]", `[{"type":"text","text":"a"}]`, `{"type":"text","text":"b"}`,
		`{"type":"content","content":{"type":"text","text":"c"}}`, `[{"type":"diff","path":"p","oldText":"a\nb","newText":"b\n"}]`,
		`[{"type":"diff","changes":[{"operation":"add","path":"p"}],"patch":{"text":"+a"}}]`, `[{"type":"terminal","terminalId":"x"}]`,
		`{"data":"eHg="}`, `"eHg="`, `{"exitCode":1}`, `{"planId":"x","type":"items","entries":[{"content":"s","status":"completed"}]}`,
		`[{"path":"p","line":1}]`, `"completed"`, `"idle"`, `"\u001b[2J\u009b"`, `{"type":"image","data":"eHg=","mimeType":"a\u0007"}`, `{"type":"resource","resource":{}}`}
	kinds := strings.Fields("user_message_chunk agent_message_chunk agent_thought_chunk user_message agent_message agent_thought tool_call " +
		"tool_call_update tool_call_content_chunk plan plan_update plan_removed terminal_update terminal_output_chunk compaction_update " +
		"compaction_summary_chunk notice state_update session_info_update usage_update current_mode_update unknown")
	begins := []string{v1, v2early, v2, load}
	f.Fuzz(func(t *testing.T, begin uint8, program []byte) {
		next := func(n int) int {
			if len(program) == 0 {
				return 0
			}
			b := program[0]
			program = program[1:]
			return int(b) % n
		}
		var lines strings.Builder
		lines.WriteString(begins[int(begin)%len(begins)])
		for id := 2; len(program) > 0; id++ {
			switch next(8) {
			case 0:
				lines.WriteString(prompt(strconv.Itoa(id), "hi"))
			case 1:
				lines.WriteString(reply(strconv.Itoa(id-next(4)), ended))
			case 2:
				lines.WriteString(ask(strconv.Itoa(id), `"toolCall":{"toolCallId":"x","content":`+values[next(len(values))]+"}"))
				lines.WriteString(answer(strconv.Itoa(id), chose))
			default:
				fields := `"sessionUpdate":"` + kinds[next(len(kinds))] + `"`
				for range next(6) {
					fields += `,"` + names[next(len(names))] + `":` + values[next(len(values))]
				}
				lines.WriteString(update(fields))
			}
		}
		readable(t, build(t, lines.String()))
	})
}

// balanced fails if something ends that has not begun, or does not end.
func balanced(t *testing.T, events []trace.Event) {
	t.Helper()
	type key struct {
		kind  trace.Kind
		first uint64
		entry int
	}
	open := map[key]bool{}
	for i, e := range events {
		k := key{e.Kind, e.First, e.Entry}
		known := open[k]
		if _, begun := open[k]; begun == (e.Phase == trace.Began) {
			t.Errorf("%s: begun before: %v", line(e), begun)
		}
		if e.Phase == trace.Ended && !known && e.End >= trace.StillOpen {
			t.Errorf("%s: has ended before", line(e))
		}
		if open[k] = e.Phase != trace.Ended && (e.Phase == trace.Began || known || e.Kind == trace.ToolCallEvent); i > 0 && e.Seq < events[i-1].Seq {
			t.Errorf("%s: after frame %d", line(e), events[i-1].Seq)
		}
	}
	for k, is := range open {
		if is {
			t.Errorf("%s of frame %d has no end", k.kind, k.first)
		}
	}
}

// readable fails if a conversation cannot be exported or written.
func readable(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for _, s := range tr.Sessions {
		// encoding/json takes no more levels than a frame may have, and the
		// export has some of its own.
		if _, err := json.Marshal(&s.Conversation); err != nil && !strings.Contains(err.Error(), "depth") {
			t.Errorf("exporting: %v", err)
		}
		var b bytes.Buffer
		if err := trace.WriteText(&b, &s.Conversation, trace.Text{Width: 40, Lines: 5}); err != nil {
			t.Errorf("writing: %v", err)
		}
		if i := bytes.IndexFunc(b.Bytes(), control); i >= 0 {
			t.Errorf("control character in %q", b.Bytes()[i:])
		}
	}
}

func control(r rune) bool {
	return r < ' ' && r != '\n' || 0x7f <= r && r < 0xa0 || r == '\u202e'
}
