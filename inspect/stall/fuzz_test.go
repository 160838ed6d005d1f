package stall_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/record/termtext"
)

// FuzzWatch feeds frames of the table in any order, and others, at any times. What begins
// to hang ends once, in that order; texts are clean, and only a few things hang at once.
func FuzzWatch(f *testing.F) {
	var pool [][2]string
	for _, tt := range stalls {
		var order []byte
		for line := range strings.Lines(tt.lines) {
			if _, sign, raw := cut(f, line); sign != "" {
				order = append(order, byte(len(pool)), 130)
				pool = append(pool, [2]string{sign, raw})
			}
		}
		f.Add(order, "", int64(stall.DefaultAfter))
	}
	f.Add([]byte{0, 0, 255, 255, 255, 128}, chunk, int64(1))
	f.Fuzz(func(t *testing.T, order []byte, other string, after int64) {
		w := stall.Watch{After: max(time.Duration(after)%(1<<50), 1)}
		frames := newTape()
		open := map[string]bool{}
		take := func(changes []stall.Change) {
			for _, c := range changes {
				key := fmt.Sprint(c.Kind, " ", c.Session, " ", c.Frame, " ", c.Since)
				if c.Over != open[key] {
					t.Fatalf("over %v, began %v: %+v", c.Over, open[key], c)
				}
				if open[key] = !c.Over; c.Over {
					delete(open, key)
				}
				if c.At < c.Since || c.Text != termtext.Line(c.Text) {
					t.Fatalf("%+v", c)
				}
			}
			if len(open) != len(w.Hanging()) || len(open) > 256 {
				t.Fatalf("%d begun and not over, %d hanging", len(open), len(w.Hanging()))
			}
		}
		var at time.Duration
		for len(order) >= 2 {
			which, step := int(order[0]), int(order[1])
			order = order[2:]
			at += time.Duration(math.Copysign(math.Pow(2, math.Abs(float64(step)-96)/2.5), float64(step)-96)) // up to 3e19 ns: it may overflow
			switch {
			case which < len(pool):
				frame := frames.frame(at, pool[which][0], pool[which][1])
				take(w.Add(&frame))
			case which%2 == 0:
				frame := frames.frame(at, "<>!"[which/2%3:][:1], other)
				take(w.Add(&frame))
			default:
				take(w.Now(at))
			}
		}
		take(w.End())
		if len(open) > 0 {
			t.Errorf("not over at the end: %v", open)
		}
	})
}

// Memory does not grow with the number of frames.
func TestBounded(t *testing.T) {
	w := stall.Watch{After: time.Second}
	frames := newTape()
	hung, told := 0, 0
	add := func(at time.Duration, sign, format string, args ...any) {
		f := frames.frame(at, sign, fmt.Sprintf(format, args...))
		for _, c := range w.Add(&f) {
			if c.Over {
				hung--
			} else {
				hung, told = hung+1, told+1
			}
		}
		if hung > 256 {
			t.Fatalf("%d hang at once", hung)
		}
	}
	for i := range 10_000 {
		add(time.Duration(i)*time.Millisecond, ">", `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s-%d"}}`, i, i)
	}
	if told < 256 {
		t.Errorf("only %d told of", told)
	}
	w.End()
	if n := len(w.Hanging()); n > 0 {
		t.Errorf("%d hang behind the end", n)
	}
}
