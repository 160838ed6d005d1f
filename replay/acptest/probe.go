package acptest

import (
	"errors"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
)

// A ProbeOption changes what [Probe] plays, and what fails.
type ProbeOption func(*probing)

type probing struct {
	runner     probe.Runner
	only, skip []string
	failOn     string
}

// Only limits Probe to the cases whose ids match one of the patterns, such as load/*.
func Only(patterns ...string) ProbeOption {
	return func(p *probing) { p.only = append(p.only, patterns...) }
}

// Skip leaves out the cases whose ids match one of the patterns.
func Skip(patterns ...string) ProbeOption {
	return func(p *probing) { p.skip = append(p.skip, patterns...) }
}

// FailOn says what fails, as --fail-on of acptap probe does: by default violation,hang.
func FailOn(least string) ProbeOption { return func(p *probing) { p.failOn = least } }

// Runner sets fields of the [probe.Runner], such as Kind, Login, Env or Prompts. Its cases
// are the built-in ones of Kind, unless Cases is set.
func Runner(set func(*probe.Runner)) ProbeOption { return func(p *probing) { set(&p.runner) } }

// Probe plays test conversations to an agent or an MCP server, each in a subtest with a new
// process of the command. A case that cannot be decided is skipped. If a case fails, its tape
// is a file in the test's artifact directory, which go test -artifacts keeps. acptap help
// probe describes the cases.
func Probe(t *testing.T, command []string, set ...ProbeOption) {
	t.Helper()
	p := &probing{failOn: "violation,hang"}
	for _, set := range set {
		set(p)
	}
	found, on := p.play(t, command)
	for i := range found.Results {
		res := &found.Results[i]
		name := res.Case.ID
		if len(found.Dialects) > 1 {
			name += "/" + res.Dialect.String()
		}
		t.Run(name, func(t *testing.T) {
			t.Helper()
			tell(t, found, res, on)
		})
	}
	t.Run("rules", func(t *testing.T) {
		t.Helper()
		for _, f := range found.Rest() {
			if !f.Known && on.Fails(&f.Finding.Finding) {
				t.Error(f.String())
			} else {
				t.Log(f.String())
			}
		}
	})
}

// play plays the cases.
func (p *probing) play(t testing.TB, command []string) (*probe.Report, report.FailOn) {
	t.Helper()
	on, err := report.ParseFailOn(p.failOn)
	if err != nil {
		t.Fatalf("acptest.FailOn: %v", err)
	}
	r := &p.runner
	if r.Cases == nil {
		r.Cases, err = probe.Cases(r.Kind)
	}
	if err == nil {
		r.Cases, err = probe.Select(r.Cases, p.only, p.skip)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Command = command
	r.Store = record.OpenStore(t.TempDir())
	found, err := r.Run(t.Context())
	var unmet *probe.StartError
	switch {
	case errors.As(err, &unmet):
		t.Fatalf("%v\n%s", err, strings.Join(unmet.Stderr, "\n"))
	case err != nil && !errors.Is(err, probe.ErrNoCase) && !errors.Is(err, probe.ErrStuck):
		t.Fatal(err)
	}
	if err := found.WriteTapes(r.Store, t.ArtifactDir()); err != nil {
		t.Fatal(err)
	}
	return found, on
}

// tell reports a result in its subtest.
func tell(t testing.TB, found *probe.Report, res *probe.Result, on report.FailOn) {
	t.Helper()
	switch {
	case res.Outcome == probe.Stuck, res.Fault != nil && !res.Fault.Known && on.Fails(&res.Fault.Finding):
		t.Error(found.Case(res))
	case res.Fault != nil:
		t.Log(found.Case(res))
	case res.Outcome == probe.NotOffered, res.Outcome == probe.NotTried:
		t.Skip(res.Outcome.String() + ": " + res.Got)
	case len(res.Told) > 0:
		t.Log("told: " + strings.Join(res.Told, "; "))
	}
}
