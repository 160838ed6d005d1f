package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A turn with a permission, and a second one that is cancelled.
const twoTurns = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"one"}]}}
a {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}
c {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done in /w/rec/a.go"}}}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
c {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
a {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}
`

// Each turn has ended, or has not begun, when the client cancels.
const idleCancels = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"one"}]}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}}
a {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
`

const (
	hello   = `{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":1}}`
	makeNew = `{"jsonrpc":"2.0","id":11,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}`
	first   = `{"jsonrpc":"2.0","id":12,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"o"},{"type":"text","text":"ne"}],"_meta":{"x":1}}}`
	allow   = `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
	second  = `{"jsonrpc":"2.0","id":13,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}}`
	cancel  = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
)

// A request of an extension, and the params of two recorded ones: the one differs from
// it in one field, the other in all.
const (
	asked   = `{"jsonrpc":"2.0","id":"x","method":"_x/ask","params":{"a":1,"b":2,"c":3}}`
	nearAsk = `{"a":1,"b":2,"c":4}`
	farAsk  = `{"a":7,"b":8,"c":9}`
)

// askTape returns a tape with a request _x/ask for each of the params, from frame 3 on,
// and its answer.
func askTape(params ...string) string {
	tape := strings.Join(strings.Split(twoTurns, "\n")[:3], "\n") + "\n"
	for i, p := range params {
		tape += fmt.Sprintf("c {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"_x/ask\",\"params\":%s}\na {\"jsonrpc\":\"2.0\",\"id\":%[1]d,\"result\":{}}\n", i+1, p)
	}
	return tape
}

// each returns a message for each name, which replaces NAME in it.
func each(message string, names ...string) (list []string) {
	for _, name := range names {
		list = append(list, strings.ReplaceAll(message, "NAME", name))
	}
	return list
}

func TestMiss(t *testing.T) {
	prompts := each(`{"jsonrpc":"2.0","id":"NAME","method":"session/prompt","params":{"sessionId":"NAME","prompt":[]}}`, "e", "c", "a", "f", "d", "b")
	notes := each(`{"jsonrpc":"2.0","method":"_x/NAME"}`, "a", "b", "c", "d", "e", "f")
	for _, tt := range []struct {
		name  string
		tape  string
		says  []string // the client
		agent replay.Agent

		got    []string // a part of each of the agent's last answers, in order
		report []string // a part of each line of the report
		waits  time.Duration
	}{
		{
			name: "all as recorded",
			tape: twoTurns, says: []string{hello, makeNew, first, allow, second, cancel},
			got: []string{`"id":13,"result":{"stopReason":"cancelled"}`},
		}, {
			name: "another prompt",
			tape: twoTurns, says: []string{hello, makeNew, strings.Replace(first, `"ne"`, `"ther"`, 1)},
			got: []string{`"id":12,"error":{"code":-32603,"message":"acptap replay: session/prompt is not the recorded one; the tape has session/prompt in frame 5: prompt[0].text is \"other\", not \"one\"",` +
				`"data":{"acptap":{"miss":"session/prompt is not the recorded one","expected":{"seq":5,"method":"session/prompt"},"differs":[{"path":"prompt[0].text","want":"one","got":"other"}]}}}`},
			report: []string{"miss: session/prompt is not", "never came: session/prompt, frame 5", "never came: answer to session/request_permission, frame 7", "frame 10", "frame 11"},
		}, {
			name: "another prompt, by method",
			tape: twoTurns, says: []string{hello, makeNew, strings.Replace(first, `"ne"`, `"ther"`, 1), allow, second, cancel},
			agent: replay.Agent{Matching: replay.MatchMethod},
			got:   []string{`"id":13,"result":{"stopReason":"cancelled"}`},
		}, {
			name: "the same but for _meta, exactly",
			tape: twoTurns, says: []string{hello, makeNew, first},
			agent:  replay.Agent{Matching: replay.MatchExact, Partial: true},
			got:    []string{`"path":"_meta.x","want":null,"got":1`},
			report: []string{"miss: session/prompt is not the recorded one"},
		}, {
			name: "a prompt too many",
			tape: twoTurns, says: []string{hello, makeNew, first, allow, second, cancel, strings.Replace(second, "13", "14", 1)},
			got:    []string{`"id":14,"error":{"code":-32603,`},
			report: []string{"miss: session/prompt was sent, and is not on the tape"},
		}, {
			name: "a method that the tape does not have",
			tape: twoTurns, says: []string{hello, makeNew, `{"jsonrpc":"2.0","id":"x","method":"session/list"}`, first, allow, second, cancel},
			got:    []string{`"id":"x","error":{"code":-32603`, `request_permission`, `done in`, `end_turn`, `"id":13,"result"`},
			report: []string{"miss: session/list is not what comes next on the tape; the tape has session/prompt in frame 5"},
		}, {
			name: "the nearest of a method last on the tape",
			tape: askTape(farAsk, nearAsk), says: []string{hello, asked},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"expected":{"seq":5,"method":"_x/ask"},"differs":[{"path":"c","want":4,"got":3}]`},
			report: []string{"miss: _x/ask is not the recorded one; the tape has _x/ask in frame 5: c is 3, not 4"},
		}, {
			name: "the nearest of a method first on the tape",
			tape: askTape(nearAsk, farAsk), says: []string{hello, asked},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"expected":{"seq":3,"method":"_x/ask"},"differs":[{"path":"c","want":4,"got":3}]`},
			report: []string{"miss: _x/ask is not the recorded one; the tape has _x/ask in frame 3: c is 3, not 4"},
		}, {
			name: "several of a method that are equally near",
			tape: askTape(farAsk, nearAsk, nearAsk), says: []string{hello, asked},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"expected":{"seq":5,"method":"_x/ask"},"differs":[{"path":"c","want":4,"got":3}]`},
			report: []string{"miss: _x/ask is not the recorded one; the tape has _x/ask in frame 5: c is 3, not 4"},
		}, {
			name: "a permission answered otherwise",
			tape: twoTurns, says: []string{hello, makeNew, first, strings.Replace(allow, `"y"`, `"n"`, 1)},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"id":12,"error":{"code":-32603,"message":"acptap replay: session/request_permission, frame 6, was answered otherwise; the tape has session/request_permission in frame 7: outcome.optionId is \"n\", not \"y\""`},
			report: []string{"miss: session/request_permission, frame 6, was answered otherwise"},
		}, {
			name: "an answer to nothing",
			tape: twoTurns, says: []string{hello, makeNew, strings.Replace(allow, `"id":0`, `"id":9`, 1)},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"sessionId":"s"`},
			report: []string{"miss: an answer came to a request 9 that is not open"},
		}, {
			name: "a client that closes early",
			tape: twoTurns, says: []string{hello, makeNew},
			got:    []string{`"sessionId":"s"`},
			report: []string{"never came: session/prompt, frame 5", "never came: answer", "never came: session/prompt, frame 10", "never came: session/cancel, frame 11"},
		}, {
			name: "a client that closes early, as it may",
			tape: twoTurns, says: []string{hello, makeNew},
			agent: replay.Agent{Partial: true},
			got:   []string{`"sessionId":"s"`},
		}, {
			name: "a cancel that never comes",
			tape: twoTurns, says: []string{hello, makeNew, first, allow, second, ""},
			got:    []string{`"id":13,"error":{"code":-32603,"message":"acptap replay: session/cancel did not come; the tape has session/cancel in frame 11"`},
			report: []string{"miss: session/cancel did not come", "never came: session/cancel, frame 11"},
			waits:  5 * time.Second,
		}, {
			name: "a permission that is never answered",
			tape: twoTurns, says: []string{hello, makeNew, first, ""},
			agent: replay.Agent{Patience: 3 * time.Second},
			got:   []string{`request_permission`, `"id":12,"error":{"code":-32603,"message":"acptap replay: the answer to session/request_permission did not come; the tape has session/request_permission in frame 7"`},
			report: []string{
				"miss: the answer to session/request_permission did not come; the tape has session/request_permission in frame 7",
				"never came: answer to session/request_permission, frame 7",
			},
			waits: 3 * time.Second,
		}, {
			name: "a cancel too many",
			tape: twoTurns, says: []string{hello, makeNew, cancel, first, allow, second, cancel},
			got:    []string{`"id":13,"result":{"stopReason":"cancelled"}`},
			report: []string{"note: a cancel came when no turn was open"},
		}, {
			name: "a cancel of a prompt that was sent before the turn of the first had ended",
			tape: twoTurns, says: []string{hello, makeNew, first, second, allow, cancel},
			got: []string{`"id":12,"result":{"stopReason":"end_turn"}`, `"id":13,"result":{"stopReason":"cancelled"}`},
		}, {
			name: "a cancel when no turn is open, on the tape too",
			tape: idleCancels, says: append(side(idleCancels, "c"), ""),
			got: []string{`"id":2,"result":{"stopReason":"end_turn"}`, `"id":3,"result":{"stopReason":"end_turn"}`},
		}, {
			name: "a cancel of a session that nobody made, on the tape too",
			tape: "c " + hello + "\nc " + cancel, says: []string{hello, cancel},
		}, {
			name: "a cancel when no turn is open, and one too many",
			tape: idleCancels, says: []string{hello, makeNew, cancel, cancel},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"sessionId":"s"`},
			report: []string{"note: a cancel came when no turn was open"},
		}, {
			name: "a cancel where the tape has an answer",
			tape: twoTurns, says: []string{hello, makeNew, first, cancel},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"id":12,"error":{"code":-32603`},
			report: []string{"miss: session/cancel"},
		}, {
			name: "a tape that ends in a turn",
			tape: strings.Join(strings.Split(twoTurns, "\n")[:9], "\n"), says: []string{hello, makeNew, first, allow, ""},
			got:    []string{`done in`, `"id":12,"error":{"code":-32603,"message":"acptap replay: the tape ends before the answer"`},
			report: []string{"miss: the tape ends before the answer"},
			waits:  5 * time.Second,
		}, {
			name: "a tape that ends in the turns of several sessions",
			tape: "c " + strings.Join(prompts, "\nc "), says: append(prompts, ""),
			got:    []string{`"id":"a","error"`, `"id":"b","error"`, `"id":"c","error"`, `"id":"d","error"`, `"id":"e","error"`, `"id":"f","error"`},
			report: slices.Repeat([]string{"miss: the tape ends before the answer"}, 6),
			waits:  5 * 5 * time.Second, // after the first
		}, {
			name: "a batch that never comes",
			tape: "c [" + strings.Join(notes, ",") + "]", says: []string{`{"jsonrpc":"2.0","method":"_x/x"}`},
			report: []string{"miss: _x/x is not what comes next on the tape; the tape has _x/a in frame 1", "never came: _x/a,", "never came: _x/b,", "never came: _x/c,", "never came: _x/d,", "never came: _x/e,", "never came: _x/f,"},
		}, {
			name: "an older client",
			tape: strings.ReplaceAll(twoTurns, `"protocolVersion":1`, `"protocolVersion":2`), says: []string{hello},
			agent:  replay.Agent{Partial: true},
			got:    []string{`"path":"protocolVersion","want":2,"got":1`},
			report: []string{"miss: initialize is not the recorded one"},
		}, {
			name: "a tape without initialize",
			tape: strings.Join(strings.Split(twoTurns, "\n")[3:], "\n"), says: []string{hello, makeNew, first, allow, second, cancel},
			got:    []string{`"id":13,"result":{"stopReason":"cancelled"}`},
			report: []string{"miss: initialize is not what comes next on the tape"},
		}, {
			name: "a tape with nothing but an end",
			tape: `! {"dir":"c2a","eof":true}`, says: []string{hello},
			got:    []string{`"id":10,"error"`},
			report: []string{"miss: initialize was sent, and is not on the tape"},
		}, {
			name: "no message at all",
			tape: twoTurns, says: []string{"hello", "[]", `{"jsonrpc":"2.0","id":5}`},
			agent:  replay.Agent{Partial: true},
			got:    []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"acptap replay: empty batch"}}`},
			report: []string{"miss: an answer came to a request 5", "note: a line came that is no message: hello", "note: an empty batch came"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tape := replaytest.Tape(t, tt.tape)
				in, w := io.Pipe()
				go func() {
					for _, text := range tt.says {
						if text == "" { // it waits
							time.Sleep(time.Minute)
							continue
						}
						io.WriteString(w, text+"\n")
					}
					w.Close()
				}()
				tt.agent.Tapes = []*record.Tape{tape}
				tt.agent.Cwd = "/w/rec"
				var out stamped
				report, err := tt.agent.Run(t.Context(), in, &out, io.Discard)
				if report.Diverged() != errors.Is(err, replay.ErrDiverged) || err != nil && !report.Diverged() {
					t.Errorf("got the error %v with the report\n%s", err, &report)
				}
				lines := strings.Split(strings.TrimSpace(out.String()), "\n")
				if len(lines) < len(tt.got) {
					t.Fatalf("got %q, want %q", lines, tt.got)
				}
				for i, want := range tt.got {
					if got := lines[len(lines)-len(tt.got)+i]; !strings.Contains(got, want) {
						t.Errorf("got %s, want %s", got, want)
					}
				}
				checkReport(t, report.String(), tt.report)
				if out.after.Truncate(time.Second) != tt.waits {
					t.Errorf("the last answer came after %v, want %v", out.after, tt.waits)
				}
			})
		})
	}
}

// The size of a report does not grow with the client's mistakes.
func TestManyMisses(t *testing.T) {
	var says strings.Builder
	for i := range 250 {
		fmt.Fprintf(&says, `{"jsonrpc":"2.0","id":%d,"method":"_x/none"}`+"\n", i)
		fmt.Fprintf(&says, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"z"}}`+"\n")
	}
	a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, twoTurns)}, Partial: true}
	var out bytes.Buffer
	report, err := a.Run(t.Context(), strings.NewReader(says.String()), &out, io.Discard)
	if !errors.Is(err, replay.ErrDiverged) || strings.Count(out.String(), `"error"`) != 250 {
		t.Errorf("got %v and %d answers", err, strings.Count(out.String(), "\n"))
	}
	text := report.String()
	if n := strings.Count(text, "\n"); n != 202 || !strings.Contains(text, "miss: 150 more\n") || !strings.HasSuffix(text, "note: 150 more\n") {
		t.Errorf("got %d lines, %s", n, text)
	}
}

func checkReport(t *testing.T, report string, want []string) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(report, "\n"), "\n")
	if report == "" {
		got = nil
	}
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("got the report %q, want %q", got, want)
	}
}

// A stamped is a buffer that knows when it was written to last.
type stamped struct {
	bytes.Buffer
	start time.Time
	after time.Duration
}

func (s *stamped) Write(b []byte) (int, error) {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.after = time.Since(s.start)
	return s.Buffer.Write(b)
}
