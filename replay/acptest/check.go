package acptest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
)

// A verdict says which findings are errors of a test.
type verdict struct {
	least  conform.Strength
	ignore []string
}

// A CheckOption changes which findings are errors of a test.
type CheckOption func(*verdict)

// Least makes findings of a strength and above errors of the test. The default is
// violations only.
func Least(s conform.Strength) CheckOption { return func(v *verdict) { v.least = s } }

// Ignore leaves out rules by their ids or prefixes of these: ACP405, ACP44.
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
		if !slices.ContainsFunc(conform.Rules(), func(r *conform.Rule) bool { return strings.HasPrefix(r.ID, id) }) {
			t.Fatalf("acptest.Ignore: there is no rule %q; acptap check --rules lists them", id)
		}
	}
	return v
}

// Check judges the tape at path, in the portable form, by the specifications. Violations by
// either side are errors of the test.
func Check(t testing.TB, path string, set ...CheckOption) {
	t.Helper()
	v := newVerdict(t, set)
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := judge(t.Context(), tape)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	v.tell(t, path, findings)
}

// CheckClient is an option of [Agent] and [AgentCommand]. Violations by the client under
// test are errors of the test. The agent is a recording and is not judged.
//
//	stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl", acptest.CheckClient(t))
func CheckClient(t testing.TB, set ...CheckOption) func(*replay.Cassette) {
	t.Helper()
	v := newVerdict(t, set)
	return func(c *replay.Cassette) {
		t.Helper()
		l := newListener()
		c.Wrap = func(in io.Reader, out io.Writer) (io.Reader, io.Writer) { return l.client(in), l.agent(out) }
		t.Cleanup(func() { // runs after the traffic has ended
			t.Helper()
			v.tell(t, c.Path+", the client under test", by(conform.Client, l.findings()))
		})
	}
}

// CheckAgent is an option of [Client]. Violations by the agent under test are errors of the
// test. The client is a recording and is not judged.
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
				if slices.Contains(before, id) {
					continue
				}
				tape, err := c.Store.Open(id)
				if err != nil {
					t.Error(err)
					continue
				}
				findings, err := judge(context.Background(), tape)
				if err != nil {
					t.Error(err)
				}
				v.tell(t, "the agent under test", by(conform.Agent, findings))
			}
		})
	}
}

// judge returns the findings for a tape.
func judge(ctx context.Context, tape *record.Tape) ([]conform.Finding, error) {
	options, err := tapecheck.Options(ctx, tape)
	if err != nil {
		return nil, err
	}
	c := conform.NewChecker(options)
	for f, err := range tape.Frames(1) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return c.Findings(), err
		}
		c.Add(&f)
	}
	c.End()
	return c.Findings(), nil
}

// by returns the findings that are a side's fault.
func by(side conform.Fault, all []conform.Finding) []conform.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f conform.Finding) bool { return f.Fault != side })
}

// tell reports findings as an error of the test.
func (v *verdict) tell(t testing.TB, what string, findings []conform.Finding) {
	t.Helper()
	var list []*conform.Finding
	for i := range findings {
		if f := &findings[i]; f.Strength >= v.least && !slices.ContainsFunc(v.ignore, func(id string) bool { return strings.HasPrefix(f.Rule.ID, id) }) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return
	}
	var b strings.Builder
	for _, g := range report.Groups(list) {
		b.WriteString(g.Text(func(f *conform.Finding) string { return fmt.Sprint(f.Seq) }))
	}
	t.Errorf("%s breaks the protocol:\n%s", what, &b)
}
