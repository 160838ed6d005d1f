package conform_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A fault is one mistake of a side in a conversation that is otherwise as recorded.
type fault struct {
	rule   string // that finds it
	by     conform.Fault
	what   string
	tape   string // its name
	mutate func(*mutant)
}

// TestRecall puts each fault into its tape, and expects one more finding than before:
// of the right rule, blamed on the right side, and no other.
func TestRecall(t *testing.T) {
	found := 0
	for _, f := range faults {
		t.Run(f.rule+" "+f.what, func(t *testing.T) {
			c := openMutant(t, f.tape)
			before := counts(c.judge())
			f.mutate(c)
			after := c.judge()
			right, other := false, []string(nil)
			for blame, n := range counts(after) {
				switch n -= before[blame]; {
				case n > 0 && blame == fmt.Sprint(f.rule, " ", f.by):
					right = true
				case n > 0:
					other = append(other, blame)
				}
			}
			if right && other == nil {
				found++
				return
			}
			t.Errorf("found by %s, blamed on the %v: %v; also found: %v", f.rule, f.by, right, other)
			for _, x := range after {
				t.Logf("  %s %v frame %d: %s %s", x.Rule.ID, x.Fault, x.Seq, x.Text, x.Path)
			}
		})
	}
	t.Logf("found %d of %d faults: %.0f %%", found, len(faults), 100*float64(found)/float64(len(faults)))
}

// counts returns how many findings there are of each rule and side.
func counts(findings []conform.Finding) map[string]int {
	n := map[string]int{}
	for _, f := range findings {
		n[fmt.Sprint(f.Rule.ID, " ", f.Fault)]++
	}
	return n
}

// A mutant is a tape that can be changed. Its frames keep their numbers until it
// is judged; new ones have none.
type mutant struct {
	t      *testing.T
	frames []wire.Frame
}

func openMutant(t *testing.T, name string) *mutant {
	t.Helper()
	files := tapeFiles(t)
	i := slices.IndexFunc(files, func(path string) bool { return tapeName(path) == name })
	if i < 0 {
		t.Fatalf("there is no tape %s", name)
	}
	tape, err := record.OpenFile(files[i])
	if err != nil {
		t.Fatal(err)
	}
	c := &mutant{t: t}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		f.Raw = bytes.Clone(f.Raw)
		c.frames = append(c.frames, f.Frame)
	}
	return c
}

// judge returns the findings, with renumbered frames.
func (c *mutant) judge() []conform.Finding {
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	frames := make([]dialect.Frame, 0, len(c.frames))
	for _, f := range c.frames {
		f.Seq, f.Size = uint64(len(frames)+1), int64(len(f.Raw))
		var e wire.Envelope
		if f.Kind != wire.Mark && f.Kind != wire.Stderr && f.Kind != wire.Body {
			e = wire.Scan(f.Raw)
			f.Kind = e.Kind
		}
		a, _ := tracker.Observe(&f, e)
		f.Failed = dialect.Failed(e, &a)
		frames = append(frames, dialect.Frame{Frame: f, Annotation: a})
	}
	return check(frames).Findings()
}

func (c *mutant) index(seq uint64) int {
	c.t.Helper()
	i := slices.IndexFunc(c.frames, func(f wire.Frame) bool { return f.Seq == seq })
	if i < 0 {
		c.t.Fatalf("no frame %d", seq)
	}
	return i
}

// change replaces a part of a frame.
func (c *mutant) change(seq uint64, from, to string) {
	c.t.Helper()
	f := &c.frames[c.index(seq)]
	if !bytes.Contains(f.Raw, []byte(from)) {
		c.t.Fatalf("frame %d does not have %s: %s", seq, from, f.Raw)
	}
	f.Raw = bytes.Replace(f.Raw, []byte(from), []byte(to), 1)
}

// refuse makes an error of an answer.
func (c *mutant) refuse(seq uint64) {
	f := &c.frames[c.index(seq)]
	id := wire.Scan(f.Raw).ID
	f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid params"}}`, id)
}

// drop removes frames.
func (c *mutant) drop(seqs ...uint64) {
	for _, seq := range seqs {
		i := c.index(seq)
		c.frames = slices.Delete(c.frames, i, i+1)
	}
}

// move puts a frame behind another one.
func (c *mutant) move(seq, behind uint64) {
	f := c.frames[c.index(seq)]
	c.drop(seq)
	i := c.index(behind)
	f.At = c.frames[i].At + time.Microsecond
	c.frames = slices.Insert(c.frames, i+1, f)
}

// send puts lines behind a frame: "> " is the client's, "< " the agent's.
func (c *mutant) send(behind uint64, lines ...string) {
	i := 0
	if behind > 0 {
		i = c.index(behind) + 1
	}
	for k, line := range lines {
		f := wire.Frame{Kind: wire.Request, Raw: []byte(strings.Replace(line[2:], `{"`, `{"jsonrpc":"2.0","`, 1))}
		if line[0] == '<' {
			f.Dir = wire.AgentToClient
		}
		if i > 0 {
			f.At = c.frames[i+k-1].At + time.Microsecond
		}
		c.frames = slices.Insert(c.frames, i+k, f)
	}
}

// later makes a frame, and what follows, pass later.
func (c *mutant) later(seq uint64, d time.Duration) {
	for i := c.index(seq); i < len(c.frames); i++ {
		c.frames[i].At += d
	}
}
