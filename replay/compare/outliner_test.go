package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// begins tells an outliner of a tape.
func begins(t *testing.T, o *compare.Outliner, number int, tape *record.Tape) {
	t.Helper()
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	o.Next(number, &info)
}

// reads has an outliner read a tape.
func reads(t *testing.T, o *compare.Outliner, tape *record.Tape, each func(seq uint64)) {
	t.Helper()
	begins(t, o, 0, tape)
	for f, err := range tape.Frames(1) {
		if err == nil {
			err = o.Add(&f)
		}
		if err != nil {
			t.Fatal(err)
		}
		each(f.Seq)
	}
}

// Each step has a frame, and the steps about one thing have a frame about it.
func TestSteps(t *testing.T) {
	tests := []struct {
		level compare.Level
		want  string
	}{
		{compare.Content, `
1 connection acp v1
1   initialize: ok
1     with protocolVersion 1
2     gave protocolVersion 1
4 session 1
3   session/new: ok
6   turn 1
6     user
6       | clean up
7     thought
7       | Hm.
8     tool call, delete: completed
8       | rm $CWD/tmp
8       rawInput.path "$CWD/tmp"
9       permission: allow_once
8       | gone
12     agent
12       | All clean.
15   turn 1: done
5   told: available_commands_update, usage_update
`},
		{compare.Exact, `
1 c2a request
1   id 0
1   method "initialize"
1   params.clientInfo.name "editor"
`},
	}
	for _, tt := range tests {
		tape := replaytest.Tape(t, replaytest.Cleaning)
		o := compare.NewOutliner(compare.Side{Tapes: []*record.Tape{tape}}, tt.level)
		var before []compare.Step
		reads(t, o, tape, func(seq uint64) {
			steps := o.Steps()
			for i, s := range steps {
				if s.Seq == 0 || s.Seq > seq || s.Tape != 0 {
					t.Errorf("%v, after frame %d: step %d, %q, comes from frame %d of tape %d", tt.level, seq, i, s.Text, s.Seq, s.Tape)
				}
			}
			before = slices.Clone(steps)
		})
		if got := o.Steps(); !slices.Equal(got, before) {
			t.Errorf("%v: the second time %v, the first time %v", tt.level, got, before)
		}
		if got := "\n" + stepText(before); !strings.HasPrefix(got, tt.want) || tt.level == compare.Content && got != tt.want {
			t.Errorf("%v: got %s\nwant %s", tt.level, got, tt.want)
		}
	}
}

func stepText(steps []compare.Step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&b, s.Seq, s.Text)
	}
	return b.String()
}

// Steps of the second tape have its frames, although both tapes have the same numbers.
func TestStepsOfTwoTapes(t *testing.T) {
	side := compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning), replaytest.Tape(t, replaytest.Cleaning)}}
	o := compare.NewOutliner(side, compare.Shape)
	reads(t, o, side.Tapes[0], func(uint64) {})
	begins(t, o, 1, side.Tapes[1])
	for f, err := range side.Tapes[1].Frames(1) {
		if err == nil {
			err = o.Add(&f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range o.Steps() {
		if strings.HasPrefix(s.Text, "connection") || strings.HasPrefix(s.Text, "  turn") {
			got = append(got, fmt.Sprint(s.Tape, " ", s.Seq, " ", strings.TrimSpace(s.Text)))
		}
	}
	want := []string{"0 1 connection acp v1", "1 1 connection acp v1", "0 6 turn 1", "0 15 turn 1: done", "1 6 turn 1", "1 15 turn 1: done"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// An outline that is limited is the beginning of the whole one, and says so.
func TestOutlinerLimit(t *testing.T) {
	for _, level := range []compare.Level{compare.Shape, compare.Content, compare.Exact} {
		tape := replaytest.Tape(t, replaytest.Cleaning)
		of := func(limit int) (*compare.Outliner, []compare.Step) {
			o := compare.NewOutliner(compare.Side{Tapes: []*record.Tape{tape}}, level)
			o.Limit = limit
			reads(t, o, tape, func(uint64) {})
			return o, o.Steps()
		}
		o, all := of(0)
		if o.Full() {
			t.Errorf("%v: full without a limit", level)
		}
		o, some := of(500)
		if !o.Full() || len(some) == 0 || len(some) >= len(all) || !slices.Equal(some, all[:len(some)]) {
			t.Errorf("%v: got %d of %d steps, full: %v", level, len(some), len(all), o.Full())
		}
	}
}

// What Align finds is what Tapes does.
func TestAlign(t *testing.T) {
	changed := strings.ReplaceAll(replaytest.Cleaning, `"text":"clean."`, `"text":"is clean."`)
	side := func(text string) compare.Side {
		return compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, text)}}
	}
	steps := func(text string) []compare.Step {
		s := side(text)
		o := compare.NewOutliner(s, compare.Content)
		reads(t, o, s.Tapes[0], func(uint64) {})
		return o.Steps()
	}
	a := compare.Align(steps(replaytest.Cleaning), steps(changed))
	var lines []string
	i, j := 0, 0
	for _, m := range a.Same {
		for ; i < m.A; i++ {
			lines = append(lines, "-"+a.Old[i].Text)
		}
		for ; j < m.B; j++ {
			lines = append(lines, "+"+a.New[j].Text)
		}
		i, j = i+m.N, j+m.N
	}
	d, err := compare.Tapes(side(replaytest.Cleaning), side(changed), compare.Content)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, h := range d.Hunks {
		for l := range h.Lines {
			if l.Op != compare.Both {
				want = append(want, string(l.Op)+l.Text)
			}
		}
	}
	if !slices.Equal(lines, want) || len(want) != 2 {
		t.Errorf("got %q\nwant %q", lines, want)
	}
}

// A secret that was removed from one tape only makes no difference, and is on neither
// side.
func TestAlignSecrets(t *testing.T) {
	a := []compare.Step{{Text: "| the key is k-4711"}, {Text: "| bye"}}
	b := []compare.Step{{Text: "| the key is [redacted]"}, {Text: "| bye"}}
	l := compare.Align(a, b)
	if len(l.Same) != 1 || l.Same[0].N != 2 || l.Old[0].Text != l.New[0].Text || strings.Contains(l.Old[0].Text, "4711") {
		t.Errorf("got %+v", l)
	}
	if a[0].Text != "| the key is k-4711" {
		t.Errorf("Align has changed what it was given: %q", a[0].Text)
	}
}
