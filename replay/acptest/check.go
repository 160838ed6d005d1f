package acptest

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
)

// A verdict decides which findings fail a test.
type verdict struct {
	least  conform.Strength
	ignore []string
}

// both means both sides of a tape.
const both = conform.Sender

// A CheckOption changes which findings fail a test.
type CheckOption func(*verdict)

// Least makes findings of strength s and above fail the test. By default only violations
// do.
func Least(s conform.Strength) CheckOption { return func(v *verdict) { v.least = s } }

// Ignore skips the rules with these ids or id prefixes: ACP405, ACP44.
func Ignore(rules ...string) CheckOption {
	return func(v *verdict) { v.ignore = append(v.ignore, rules...) }
}

func newVerdict(t testing.TB, set []CheckOption) *verdict {
	t.Helper()
	v := &verdict{least: conform.Violation}
	for _, set := range set {
		set(v)
	}
	for _, id := range v.ignore {
		if !slices.ContainsFunc(append(conform.Rules(), report.Watch), func(r *conform.Rule) bool { return strings.HasPrefix(r.ID, id) }) {
			t.Fatalf("acptest.Ignore: there is no rule %q; acptap check --rules lists them", id)
		}
	}
	return v
}

// Check judges the tape at path, in the portable form, by the specifications. A violation
// by either side fails the test.
func Check(t testing.TB, path string, set ...CheckOption) {
	t.Helper()
	v := newVerdict(t, set)
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v.judge(t, t.Context(), path, tape, both, bySeq)
}

// CheckClient is an option of [Agent] and [AgentCommand]. Violations by the client under
// test fail the test. The agent is a recording and is not judged. Like misses, findings
// use the frame numbers of the file; frames that the file lacks keep their numbers in the
// run.
//
//	stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl", acptest.CheckClient(t))
func CheckClient(t testing.TB, set ...CheckOption) func(*replay.Cassette) {
	t.Helper()
	v := newVerdict(t, set)
	return func(c *replay.Cassette) {
		t.Helper()
		store := record.OpenStore(t.TempDir())
		journal, err := store.Record(record.Start{Version: "acptest"}) // a version marks the connection as starting at the beginning of the tape
		if err != nil {
			t.Fatal(err)
		}
		var file numbering
		c.Agent.Passed = file.add
		c.Wrap = func(in io.Reader, out io.Writer) (io.Reader, io.Writer) {
			return io.TeeReader(in, tap{journal, wire.ClientToAgent}), io.MultiWriter(tap{journal, wire.AgentToClient}, out)
		}
		t.Cleanup(func() { // runs after the traffic has ended
			t.Helper()
			if err := journal.Close(); err != nil {
				t.Error(err)
			}
			journal.Wait()
			tape, err := store.Open(journal.Tape())
			if err != nil {
				t.Error(err)
				return
			}
			name, err := file.of(tape, c.Path)
			if err != nil {
				t.Error(err)
				return
			}
			v.judge(t, context.Background(), c.Path+", the client under test", tape, conform.Client, name)
		})
	}
}

// A tap records the bytes written to it as traffic in one direction.
type tap struct {
	journal *record.Recorder
	dir     wire.Direction
}

func (p tap) Write(b []byte) (int, error) {
	_ = p.journal.Append(p.dir, wire.Wire, b) // after an error the tape notes the gap
	return len(b), nil
}

// CheckAgent is an option of [Client]. Violations by the agent under test fail the test.
// The client is a recording and is not judged.
func CheckAgent(t testing.TB, set ...CheckOption) func(*drive.Client) {
	t.Helper()
	v := newVerdict(t, set)
	return func(c *drive.Client) {
		t.Helper()
		if c.Store == nil {
			c.Store = record.OpenStore(t.TempDir())
		}
		before, err := c.Store.Tapes()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			t.Helper()
			ids, err := c.Store.Tapes()
			if err != nil {
				t.Error(err)
				return
			}
			for _, id := range ids {
				if !slices.Contains(before, id) {
					v.judgeStored(t, "the agent under test", c.Store, id, conform.Agent)
				}
			}
		})
	}
}

// judgeStored runs judge on a tape of a store after the test.
func (v *verdict) judgeStored(t testing.TB, what string, store *record.Store, id string, of conform.Fault) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Error(err)
		return
	}
	v.judge(t, context.Background(), what, tape, of, bySeq)
}

// bySeq names a frame by its number on the judged tape.
func bySeq(seq uint64) string { return strconv.FormatUint(seq, 10) }

// judge fails the test for findings on a tape that are the fault of a judged side. name
// returns the function that names frames.
func (v *verdict) judge(t testing.TB, ctx context.Context, what string, tape *record.Tape, of conform.Fault, name func(seq uint64) string) {
	t.Helper()
	found, err := tapecheck.Find(ctx, tape)
	if err == nil {
		err = found.Err
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var list []*conform.Finding
	for _, f := range found.All() {
		ignored := slices.ContainsFunc(v.ignore, func(id string) bool { return strings.HasPrefix(f.Rule.ID, id) })
		if f.Strength >= v.least && !ignored && (of == both || f.Fault == of) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return
	}
	var b strings.Builder
	for _, f := range list {
		f.Text = renumber(f.Text, name)
	}
	for _, g := range report.Groups(list) {
		b.WriteString(g.Text(func(f *conform.Finding) string { return name(f.Seq) }))
	}
	t.Errorf("%s breaks the protocol:\n%s", what, &b)
}
