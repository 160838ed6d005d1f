package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/replay/probe"
)

// A probeVerdict says which findings of a probe count, and how to report them.
type probeVerdict struct {
	failOn, asOf, format string
	require              []string
	baselineFile, config string
	update, asJSON       bool
	verbose              bool
	tapes                string // directory; empty: tapes go to the store

	on       report.FailOn
	baseline *check.Baseline
	strength func(*conform.Finding, *dialect.Connection) conform.Strength
}

// probeForms lists the formats of the report.
var probeForms = []string{"text", "json", "junit", "sarif", "github", "html"}

func (v *probeVerdict) register(f *pflag.FlagSet) {
	f.StringVar(&v.failOn, "fail-on", "violation,hang", "the least `strength` that makes the exit status 1, and with a comma hang, what nobody ever answered: violation (broken), warning (weak), hurts, hang or never")
	f.StringSliceVar(&v.require, "require", nil, "exit status 1 unless the cases that match these `patterns` are ok")
	f.StringVar(&v.asOf, "as-of", "", "do not fail on cases added after this `month`, such as 2026-12")
	f.StringVar(&v.baselineFile, "baseline", "", "neither report nor fail on what this `file` knows")
	f.BoolVar(&v.update, "update-baseline", false, "write the file of --baseline anew")
	f.StringVar(&v.config, "config", "", "exceptions, from this `file` (default as of acptap check)")
	f.StringVar(&v.format, "format", "text", "the `form` of the report: "+strings.Join(probeForms[:5], ", ")+" or html")
	f.BoolVar(&v.asJSON, "json", false, "the same as --format json")
	f.BoolVarP(&v.verbose, "verbose", "v", false, "in text: also list the cases that are ok, those that were not tried, and what is known")
	f.StringVar(&v.tapes, "tapes", "", "write a file for each case to this `directory`, and nothing to the store")
}

// prepare interprets the flags for a run of r.
func (v *probeVerdict) prepare(f *pflag.FlagSet, r *probe.Runner) (err error) {
	if err := cli.Exclusive(f, "json", "format"); err != nil {
		return err
	}
	if v.asJSON {
		v.format = "json"
	}
	if _, err := time.Parse("2006-01", v.asOf); err != nil && v.asOf != "" {
		return fmt.Errorf("--as-of is a month such as 2026-12, not %q", v.asOf)
	}
	r.AsOf = v.asOf
	switch {
	case !slices.Contains(probeForms, v.format):
		return fmt.Errorf("--format is %s, not %q", strings.Join(probeForms, ", "), v.format)
	case v.update && v.baselineFile == "":
		return errors.New("--update-baseline goes with --baseline, which names the file")
	}
	for _, pattern := range v.require {
		if !slices.ContainsFunc(r.Cases, func(c *probe.Case) bool { return probe.Matches(pattern, c.ID) }) {
			return fmt.Errorf("--require: no case matches %q", pattern)
		}
	}
	if v.on, err = report.ParseFailOn(v.failOn); err != nil {
		return fmt.Errorf("--fail-on: %w", err)
	}
	if v.strength, err = check.Exceptions(v.config); err != nil {
		return err
	}
	v.baseline, err = check.OpenBaseline(v.baselineFile, v.update)
	return err
}

// store returns the store for the tapes, and a function that releases it.
func (v *probeVerdict) store(dir string) (*record.Store, func(), error) {
	if v.tapes == "" {
		s, err := ref.OpenStore(dir)
		return s, func() {}, err
	}
	temporary, err := os.MkdirTemp("", "acptap-tapes-")
	return record.OpenStore(temporary), func() { os.RemoveAll(temporary) }, err
}

// conclude judges the results of a run, and writes the tapes and the report.
func (v *probeVerdict) conclude(cmd *cobra.Command, store *record.Store, r *probe.Report) (failed bool, err error) {
	if v.tapes != "" {
		err = r.WriteTapes(store, v.tapes)
	} else {
		err = tagTapes(store, r)
	}
	if err != nil {
		return false, err
	}
	for res, f := range r.Faults() {
		conn := dialect.Connection{Dialect: res.Dialect, Agent: r.Name, AgentVersion: r.Version}
		if r.Kind == probe.Client {
			conn = dialect.Connection{Dialect: res.Dialect, Client: r.Name, ClientVersion: r.Version}
		}
		f.Strength = v.strength(&f.Finding, &conn)
		f.Known = f.Known || f.Strength == conform.None
		v.baseline.Take(f, !f.Known)
	}
	if err := v.write(cmd, r); err != nil {
		return false, err
	}
	return v.fails(cmd.ErrOrStderr(), r)
}

// fails finishes the baseline, and reports whether the exit status is 1.
func (v *probeVerdict) fails(stderr io.Writer, r *probe.Report) (failed bool, err error) {
	judged := map[string]bool{}
	for i := range r.Results {
		res := &r.Results[i]
		id := res.Case.ID
		if !judged[id] && !r.Ok(id) && slices.ContainsFunc(v.require, func(pattern string) bool { return probe.Matches(pattern, id) }) {
			failed = true
			cli.Warn(stderr, "--require: %s is %s", id, res.Outcome)
		}
		judged[id] = true
	}
	for _, rule := range conform.Rules() {
		judged[rule.ID] = true
	}
	err = v.baseline.End(stderr, func(rule string) bool { return judged[rule] })
	return failed || !v.update && r.Fails(v.on), err
}

// write writes the report.
func (v *probeVerdict) write(cmd *cobra.Command, r *probe.Report) error {
	w := cmd.OutOrStdout()
	switch v.format {
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w, v.on)
	case "sarif":
		return r.WriteSARIF(w, cli.Version())
	case "github":
		return r.WriteGitHub(w)
	case "html":
		return r.WriteHTML(w)
	}
	text := probe.Text{W: w, Color: cli.TakesColor(w), Width: cli.Columns(w), All: v.verbose}
	return text.Write(r)
}

// tagTapes tags each tape with the outcome of its case, for acptap ls and acptap matrix.
func tagTapes(store *record.Store, r *probe.Report) error {
	for i := range r.Results {
		res := &r.Results[i]
		if res.Tape == "" {
			continue
		}
		tag := record.ProbeTag + strings.ReplaceAll(res.Outcome.String(), " ", "-")
		if _, err := store.Annotate(res.Tape, note.Edit{Tag: []string{tag}}); err != nil {
			return err
		}
	}
	return nil
}

// behindLogin returns the error for cases that were not tried because the peer requires a
// login.
func behindLogin(r *probe.Report) error {
	n := 0
	for i := range r.Results {
		if res := &r.Results[i]; res.Outcome == probe.NotTried && res.Got == probe.LoginNeeded {
			n++
		}
	}
	return fmt.Errorf("%s: %d of %d cases not tried (--login: %s)", probe.LoginNeeded, n, len(r.Results), strings.Join(r.Login, ", "))
}
