package steps_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
	"github.com/acptap/acptap/record/trace/steps"
)

// frames returns those of a tape in a file, and what its name says.
func frames(t testing.TB, path string) (list []dialect.Frame, info record.Info) {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err = tape.Info(); err != nil {
		t.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list, info
}

// phasesOf returns the phases of all sessions on a tape that has some frames and ends some
// time after the last.
func phasesOf(list []dialect.Frame, more time.Duration) (all []*steps.Phase) {
	var tr trace.Trace
	var calls nested.Join
	tr.Next(dialect.Connection{})
	calls.Next("", time.Time{})
	end := more
	for _, f := range list {
		tr.Add(&f)
		calls.Take(&f, &tr)
		end = max(end, f.At+more)
	}
	source := steps.Source{Trace: &tr, Calls: &calls, Start: func(int) time.Time { return time.Unix(0, 0) }, Until: func(int) time.Duration { return end }}
	for _, s := range tr.Sessions {
		all = append(all, source.Session(s).Phases()...)
	}
	return all
}

// Wherever a tape is cut off, the waits of each phase cover it without gaps or overlaps, no
// step has a negative length, and steps without an end last until the end of the tape.
func TestWaitsCoverPhases(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/tapes/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	paths = append(paths, "../../../inspect/screen/testdata/turns-idle.jsonl")
	for _, path := range paths {
		list, _ := frames(t, path)
		for n := range len(list) + 1 {
			if len(list) > 200 && n%17 != 0 {
				continue
			}
			const more = 3 * time.Second
			for _, p := range phasesOf(list[:n], more) {
				if problem := uncovered(p); problem != "" {
					t.Errorf("%s, first %d frames, %s: %s", path, n, name(p), problem)
				}
				if end := list[n-1].At + more; p.Open && p.To != end {
					t.Errorf("%s, first %d frames, %s: it is open and ends at %v; want %v", path, n, name(p), p.To, end)
				}
			}
		}
	}
}

func name(p *steps.Phase) string {
	if p.Turn == nil {
		return "start-up"
	}
	return fmt.Sprint("turn ", p.Turn.Number)
}

// uncovered says what is wrong with the times of a phase.
func uncovered(p *steps.Phase) string {
	at := p.From
	for _, w := range p.Waits {
		if w.From != at || w.To <= w.From {
			return fmt.Sprintf("after %v comes %+v", at, w)
		}
		at = w.To
	}
	if at != p.To && !p.Untimed {
		return fmt.Sprintf("the waits end at %v, it at %v", at, p.To)
	}
	for _, s := range p.Steps {
		for _, s := range append([]*steps.Step{s}, s.Below...) {
			if !s.Untimed && (s.To < s.From || s.Took() < 0) {
				return fmt.Sprintf("%q is from %v to %v", s.Text(), s.From, s.To)
			}
		}
	}
	return ""
}

// phaseText writes a phase as text.
func phaseText(p *steps.Phase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v-%v\n", name(p), p.From, p.To)
	for _, w := range p.Waits {
		fmt.Fprintf(&b, "  %v: %s\n", w.Took(), waited(w))
	}
	var write func(list []*steps.Step, indent string)
	write = func(list []*steps.Step, indent string) {
		for _, s := range list {
			fmt.Fprintf(&b, "%s%v-%v %s\n", indent, s.From, s.To, s.Text())
			write(s.Below, indent+"  ")
		}
	}
	write(p.Steps, "> ")
	return b.String()
}

func waited(w trace.Wait) string {
	if w.Quiet {
		return "model"
	}
	return map[trace.Part]string{trace.ForUser: "user", trace.ForClient: "client", trace.ForTool: "tool", trace.ForAgent: "agent"}[w.Part]
}

func TestPhases(t *testing.T) {
	list, _ := frames(t, "../../../inspect/screen/testdata/turns-idle.jsonl")
	var got strings.Builder
	for _, p := range phasesOf(list, 0)[:2] {
		got.WriteString(phaseText(p))
	}
	want := `start-up 2ms-2.622s
  1.9s: model
  20ms: client
  700ms: model
> 2ms-1.902s initialize
> 1.922s-2.622s session/new
turn 1 42.622s-1m15.792s
  2.5s: model
  300ms: model
  500ms: model
  300ms: model
  100ms: model
  100ms: tool
  30ms: client
  6.03s: tool
  1.8s: model
  12s: model
  400ms: model
  10ms: agent
  9s: user
  100ms: model
> 45.122s-45.422s Which tests? All of them.
> 45.922s-46.222s I run the tests.
> 46.322s-52.482s go test ./...
>   46.422s-46.452s terminal/create
>   46.462s-52.462s terminal/wait_for_exit
> 46.452s-52.462s go
> 54.282s-1m6.282s They fail. I mend them.
> 1m6.692s-1m15.692s Edit a.go
>   1m6.692s-1m15.692s permission → Reject
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
