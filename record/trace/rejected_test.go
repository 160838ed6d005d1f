package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A tool call that the user rejects ends then, unless the user is asked again and agrees, or
// the agent goes on all the same. It ends once.
func TestRejected(t *testing.T) {
	asked := func(id, option string) string {
		return ask(id, `"toolCall":{"toolCallId":"c"}`) + "@+1s\n" + answer(id, `{"outcome":{"outcome":"selected","optionId":"`+option+`"}}`)
	}
	const done = `"status":"completed"`
	for _, tt := range []struct{ name, lines, want string }{
		{"rejected", asked("0", "n"), "cancelled rejected at 4s took 0s, 1 cancelled"},
		{"rejected and reported", asked("0", "n") + "@+1s\n" + patched(`"status":"failed"`), "cancelled rejected at 4s took 0s, 1 cancelled"},
		{"rejected twice", asked("0", "n") + asked("1", "n"), "cancelled rejected at 4s took 0s, 1 cancelled"},
		{"taken back", asked("0", "n") + "@+1s\n" + asked("1", "y") + "@+2s\n" + patched(done), "completed completed at 8s took 2s, 0 cancelled"},
		{"taken back, unfinished", asked("0", "n") + asked("1", "y"), "unfinished pending at 6s took 1s, 0 cancelled"},
		{"done all the same", asked("0", "n") + "@+2s\n" + patched(done), "completed completed at 6s took 2s, 0 cancelled"},
		{"begun all the same", asked("0", "n") + patched(`"status":"in_progress"`) + "@+2s\n" + patched(`"status":"failed"`), "failed failed at 6s took 2s, 0 cancelled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace.Trace{}
			var ends trace.TurnEnds
			var clock trace.ToolClock
			var got []string
			var turn *trace.Turn
			tr.Next(dialect.Connection{})
			for _, f := range tape(t, seconds(v1+"@2s\n"+prompt("2", "hi")+"@3s\n"+announced("A")+tt.lines+"@+1s\n"+reply("2", ended))) {
				tr.Add(&f)
				for _, e := range tr.Events() {
					ends.Observe(&e)
					if e.Kind != trace.ToolCallEvent {
						continue
					}
					turn = ends.Last(e.Session)
					if took, ok := clock.Observe(&e, turn); e.Phase == trace.Ended {
						got = append(got, fmt.Sprintf("%s %s at %v took %v", e.End, e.Reason, e.At, took))
						if !ok {
							t.Error("it ends again")
						}
					}
				}
			}
			got = append(got, fmt.Sprintf("%d cancelled", turn.Work.CancelledTools))
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// seconds replaces each time such as @+1s with one that is so much later than the last.
func seconds(lines string) string {
	at := time.Duration(0)
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "@"); ok {
			later, _ := time.ParseDuration(strings.TrimPrefix(text, "+"))
			if strings.HasPrefix(text, "+") {
				later += at
			}
			at = later
			line = fmt.Sprintf("@%v\n", at)
		}
		b.WriteString(line)
	}
	return b.String()
}
