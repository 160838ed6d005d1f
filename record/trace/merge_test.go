package trace_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A reading is a tape, of which a test has added the first frames to a Merge.
type reading struct {
	name   string
	start  time.Time
	frames []dialect.Frame
	next   int
	begun  bool
	ended  bool
}

// at is when the next frame was recorded.
func (r *reading) at() time.Time { return r.start.Add(r.frames[r.next].At) }

// readings makes tapes with random traffic, whose times often are the same.
func readings(t *testing.T, r *rand.Rand, began time.Time) []*reading {
	var all []*reading
	for i := range 1 + r.IntN(5) {
		one := &reading{name: fmt.Sprintf("t%d", i), start: began.Add(time.Duration(r.IntN(20)) * 10 * time.Millisecond)}
		at := time.Duration(0)
		for _, f := range tape(t, traffic(r)) {
			at += time.Duration(r.IntN(4)) * 10 * time.Millisecond
			f.At = at
			one.frames = append(one.frames, f)
		}
		all = append(all, one)
	}
	return all
}

// add adds the next frame, or the end.
func (r *reading) add(l *trace.Merge) {
	if r.next == len(r.frames) {
		l.End(r.name)
		r.ended = true
		return
	}
	l.Add(r.name, &r.frames[r.next])
	r.next++
}

// sorted returns the events of all tapes, by time.
func sorted(all []*reading) []string {
	type stamped struct {
		at   time.Time
		tape string
		text string
	}
	var events []stamped
	for _, r := range all {
		tr := trace.Trace{Brief: true}
		tr.Next(dialect.Connection{})
		take := func(at time.Time) {
			for _, e := range tr.Events() {
				events = append(events, stamped{at, r.name, told(trace.TapeEvent{Event: e, Tape: r.name, Time: at})})
			}
		}
		at := r.start
		for i := range r.frames {
			tr.Add(&r.frames[i])
			at = r.start.Add(r.frames[i].At)
			take(at)
		}
		tr.End()
		take(at)
	}
	slices.SortStableFunc(events, func(a, b stamped) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.tape, b.tape)) })
	var texts []string
	for _, e := range events {
		texts = append(texts, e.text)
	}
	return texts
}

func told(e trace.TapeEvent) string {
	text := fmt.Sprintf("%s %s %s", e.Time.Format(time.StampMicro), e.Tape, line(e.Event))
	if e.Late {
		text += " late"
	}
	return text
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// However the frames of several tapes interleave, their events are given in the
// order of time.
func TestMerge(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		all := readings(t, r, noon)
		want := sorted(all)
		var l trace.Merge
		for _, one := range all {
			l.Begin(one.name, one.start, dialect.Connection{})
		}
		var got []string
		byNeed := seed%2 == 0
		for left := slices.Clone(all); len(left) > 0; left = slices.DeleteFunc(left, func(one *reading) bool { return one.ended }) {
			next := left[r.IntN(len(left))]
			if name, ok := l.Behind(); ok && byNeed {
				next = left[slices.IndexFunc(left, func(one *reading) bool { return one.name == name })]
			}
			next.add(&l)
			if r.IntN(3) == 0 {
				for e := range l.Events() {
					got = append(got, told(e))
				}
			}
		}
		for e := range l.Events() {
			got = append(got, told(e))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %d events, want %d:\n%s", seed, len(got), len(want), firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[i] + "\n" + want[i]
		}
	}
	return "one is longer"
}

// While tapes are recorded, and looked at now and then, events are in the order of
// time too, and none waits for longer than until the next look but one.
func TestMergeLive(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		all := readings(t, r, noon)
		want := sorted(all)
		var l trace.Merge
		var got []string
		left := slices.Clone(all)
		for now, before := noon, noon; len(left) > 0; before, now = now, now.Add(time.Duration(1+r.IntN(8))*10*time.Millisecond) {
			for _, i := range r.Perm(len(left)) {
				one := left[i]
				if !one.begun && one.start.Before(now) {
					one.begun = true
					l.Begin(one.name, one.start, dialect.Connection{})
				}
				for !one.ended && one.start.Before(now) && (one.next == len(one.frames) || one.at().Before(now)) {
					one.add(&l)
				}
			}
			left = slices.DeleteFunc(left, func(one *reading) bool { return one.ended })
			l.Looked(now)
			for e := range l.Events() {
				got = append(got, told(e))
				if e.Time.Before(before.Add(-20 * time.Millisecond)) {
					t.Errorf("seed %d: at %v comes %s", seed, now, told(e))
				}
			}
		}
		for e := range l.Events() {
			got = append(got, told(e))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %d events, want %d:\n%s", seed, len(got), len(want), firstDifference(got, want))
		}
	}
}

// A tape that is behind holds up the others for as long as it is waited for, and
// what comes of it then is late. On its own tape it is in order.
func TestMergePatience(t *testing.T) {
	frames := tape(t, v1+prompt("2", "hi"))
	for _, tt := range []struct {
		patience time.Duration
		held     int // looks without an event
	}{{250 * time.Millisecond, 3}, {0, 10}} {
		l := trace.Merge{Patience: tt.patience}
		for _, name := range []string{"a", "b"} {
			l.Begin(name, noon.Add(time.Hour), dialect.Connection{}) // its clock is ahead of that of looks
		}
		l.Add("b", &frames[0])
		held := 0
		for i := range 10 {
			l.Looked(noon.Add(time.Duration(i) * 100 * time.Millisecond))
			if len(slices.Collect(l.Events())) > 0 {
				break
			}
			held++
		}
		if held != tt.held {
			t.Errorf("patience %v: held up for %d looks, want %d", tt.patience, held, tt.held)
		}
		if tape, ok := l.Behind(); tt.patience == 0 && (tape != "a" || !ok) {
			t.Errorf("behind is %q", tape)
		}
		l.Begin("0", noon, dialect.Connection{})
		l.Add("0", &frames[0])
		for e := range l.Events() {
			if want := tt.patience > 0 && e.Tape == "0"; e.Late != want {
				t.Errorf("patience %v: late is %v of %s", tt.patience, e.Late, told(e))
			}
		}
	}
}

// Where nobody looks, a tape that is behind holds up so many events, and no more.
func TestMergeBounded(t *testing.T) {
	var l trace.Merge
	l.Begin("a", noon, dialect.Connection{})
	l.Begin("b", noon, dialect.Connection{})
	asked := tape(t, v1)[0]
	given, most := 0, 70_000
	for i := range most {
		asked.Seq, asked.At = uint64(i+1), time.Duration(i+1)
		l.Add("b", &asked)
		given += len(slices.Collect(l.Events()))
	}
	if waiting := 2*most - given; waiting > 1<<16+4 || given == 0 {
		t.Errorf("%d events wait", waiting)
	}
}
