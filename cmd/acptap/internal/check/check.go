// Package check judges tapes for acptap check: it reads them, runs the rules and the user's
// queries, and reports what they find.
package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// Flags are the flags of acptap check.
type Flags struct {
	Version  string // of acptap
	Severity conform.Strength
	Grace    time.Duration

	failOn         string
	by             string
	choose, ignore []string
	format         string
	asJSON         bool
	follow         bool
	nested         bool
	which          tapelist.Subjects
	explain        string
	table          bool
	configFile     string
	baselineFile   string
	update         bool
	expect, forbid []string
	untried        bool
}

// Register adds the flags to a command's flags.
func (c *Flags) Register(f *pflag.FlagSet) {
	c.Severity = conform.Hurts
	f.TextVar(&c.Severity, "severity", c.Severity, "report findings of at least this `strength`: violation, warning, hurts or note")
	f.StringVar(&c.failOn, "fail-on", "violation,hang", "exit with 1 on findings of at least this `strength`, on hangs, or on both, as in violation,hang: violation, warning, hurts, note, hang or never")
	f.StringSliceVar(&c.choose, "select", nil, "only these `rules`, by their ids or beginnings of them")
	f.StringSliceVar(&c.ignore, "ignore", nil, "without these `rules`, likewise")
	f.StringVar(&c.by, "by", "", "only what this `side` did: client or agent")
	f.StringVar(&c.baselineFile, "baseline", "", "neither report nor fail on what this `file` knows")
	f.BoolVar(&c.update, "update-baseline", false, "write the file of --baseline anew")
	f.StringVar(&c.configFile, "config", "", "exceptions, from this `file` (default "+exceptionsFile+" if there is one)")
	f.StringArrayVar(&c.expect, "expect", nil, "a violation unless a frame matches this `query`")
	f.StringArrayVar(&c.forbid, "forbid", nil, "a violation for each frame that matches this `query`")
	f.StringVar(&c.format, "format", "text", "the `form` of the report: text, json, junit, sarif, github, summary; with --rules also markdown")
	f.BoolVar(&c.asJSON, "json", false, "the same as --format json")
	f.DurationVar(&c.Grace, "grace", conform.Grace, "how long two frames may have crossed, as a `duration`")
	f.BoolVarP(&c.follow, "follow", "f", false, "report what is found as it is found, until the tape ends; without REF on all tapes that are recorded")
	f.BoolVar(&c.nested, "mcp", false, "also the tapes of the servers that the agent started, each by itself")
	c.which.Register(f)
	f.StringVar(&c.explain, "explain", "", "tell all of the `rule` with this id or name")
	f.BoolVar(&c.table, "rules", false, "list the rules")
	f.BoolVar(&c.untried, "untried", false, "also name the rules that had no occasion, in text")
}

// forms are the formats of a report.
var forms = []string{"text", "json", "junit", "sarif", "github", "summary", "markdown"}

// Validate checks that the flags are compatible.
func (c *Flags) Validate(f *pflag.FlagSet, args []string) error {
	if err := cli.Exclusive(f, "json", "format"); err != nil {
		return err
	}
	tells := c.explain != "" || c.table
	switch {
	case !slices.Contains(forms, c.format):
		return fmt.Errorf("--format is %s, not %q", strings.Join(forms, ", "), c.format)
	case c.format == "markdown" && !c.table:
		return errors.New("--format markdown goes with --rules")
	case c.table && slices.Contains([]string{"junit", "sarif", "github", "summary"}, c.format):
		return fmt.Errorf("--format %s is for findings, not for --rules", c.format)
	case c.update && c.baselineFile == "":
		return errors.New("--update-baseline goes with --baseline, which names the file")
	case c.Grace < 0:
		return fmt.Errorf("--grace %s is negative", c.Grace)
	case tells && (len(args) > 0 || c.which.Flagged()):
		return errors.New("--explain and --rules are about rules, not tapes")
	case c.follow && (c.which.Flagged() || len(args) > 1):
		return errors.New("--follow takes one REF, or none for all tapes that are recorded")
	case c.follow && c.nested:
		return errors.New("--mcp is for tapes that are there; --follow without REF judges those of servers, too")
	case c.follow && !slices.Contains([]string{"text", "json"}, c.format):
		return fmt.Errorf("--follow cannot write %s, which is one document", c.format)
	}
	return c.which.Check(args)
}

// A run is one invocation of acptap check.
type run struct {
	Flags
	rules   []*conform.Rule
	watches bool // rule WATCH is judged too
	failOn  report.FailOn
	by      conform.Fault

	config   *exceptions
	demands  []demand
	baseline *Baseline

	stdout, stderr io.Writer
	bar            *cli.Progress // nil: show none
	out            output
	live           liveOutput // nil without --follow
	flush          func() error
	followsStore   bool
	judged         map[string]bool // complete tapes, by ID
	failed         bool
	broken         int
}

// An output writes sections.
type output interface {
	Section(s *report.Section) error
}

// A liveOutput writes findings as they are found, and the totals of a section at its end.
type liveOutput interface {
	Finding(s *report.Section, f *report.Finding) error
	Totals(s *report.Section) error
}

// Run judges what the arguments name, and reports whether the check fails.
func (c Flags) Run(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) (failed bool, err error) {
	r := &run{Flags: c, stdout: stdout, stderr: stderr, followsStore: c.follow && len(args) == 0, judged: map[string]bool{}}
	if err := r.prepare(); err != nil {
		return false, err
	}
	if r.explain != "" || r.table {
		return false, r.tellRules(stdout)
	}
	w := bufio.NewWriterSize(stdout, 64<<10)
	r.flush = w.Flush
	r.out = r.output(w, cli.TakesColor(stdout))
	if r.follow {
		r.live = r.out.(liveOutput)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if r.followsStore {
		err = r.followStore(ctx, dir)
	} else {
		err = r.judgeAll(ctx, dir, args, stdin)
	}
	if err != nil {
		return r.failed, err
	}
	if c, ok := r.out.(io.Closer); ok {
		if err := c.Close(); err != nil {
			return r.failed, err
		}
	}
	if err := w.Flush(); err != nil {
		return r.failed, err
	}
	if r.broken > 0 {
		return r.failed, errTold
	}
	return r.failed, r.endBaseline()
}

// judgeAll judges what the arguments or --all select.
func (r *run) judgeAll(ctx context.Context, dir string, args []string, stdin io.Reader) error {
	subjects, err := r.which.Each(dir, args, stdin)
	if err != nil {
		return err
	}
	none := r.which.Flagged() && r.format == "text"
	for sub, err := range subjects {
		none = false
		switch {
		case err != nil:
		case r.nested && sub.Session == "" && r.judged[sub.Parts[0].Tape.ID()]: // judged with its parent
		default:
			err = r.subject(ctx, sub, "")
		}
		if err == nil && r.nested {
			err = r.servers(ctx, sub)
		}
		switch {
		case err != nil && ctx.Err() != nil && !r.follow:
			return ctx.Err() // no partial report
		case err != nil:
			r.tell(err)
		}
	}
	if none {
		fmt.Fprintln(r.stdout, "No such tapes.")
	}
	return nil
}

// errTold means that something could not be read. It has no text, because the reason has
// already been reported.
var errTold = errors.New("")

// tell reports what could not be read.
func (r *run) tell(err error) {
	r.broken++
	cli.Warn(r.stderr, "%v", err)
}

// prepare interprets the flags.
func (r *run) prepare() (err error) {
	if r.asJSON {
		r.format = "json"
	}
	if r.failOn, err = report.ParseFailOn(r.Flags.failOn); err != nil {
		return fmt.Errorf("--fail-on: %w", err)
	}
	if r.Flags.by != "" {
		if err := r.by.UnmarshalText([]byte(r.Flags.by)); err != nil || r.by == conform.Acptap {
			return fmt.Errorf("--by is client or agent, not %q", r.Flags.by)
		}
	}
	if err := r.chooseRules(); err != nil {
		return err
	}
	if r.demands, err = r.Flags.demands(); err != nil {
		return err
	}
	if r.config, err = readExceptions(r.configFile); err != nil {
		return err
	}
	r.baseline, err = OpenBaseline(r.baselineFile, r.update)
	return err
}

// chooseRules selects the rules. The user's queries always count.
func (r *run) chooseRules() error {
	chosen, err := selectRules(r.choose, r.ignore)
	if err != nil {
		return err
	}
	r.watches = slices.Contains(chosen, report.Watch)
	r.rules = slices.DeleteFunc(chosen, func(rule *conform.Rule) bool { return slices.Contains(report.Own(), rule) })
	if len(r.rules)+len(r.ownRules()) == 0 {
		return errors.New("no rule is left; EXPECT goes with --expect, FORBID with --forbid")
	}
	return nil
}

// tellRules answers --explain and --rules.
func (r *run) tellRules(w io.Writer) error {
	switch {
	case r.explain != "":
		rule, err := lookupRule(r.explain)
		if err != nil {
			return err
		}
		return (&report.Text{W: w, Color: cli.TakesColor(w)}).Explain(rule)
	case r.format == "markdown":
		return report.WriteMarkdown(w, r.rules)
	case r.format == "json":
		return report.WriteRulesJSON(w, r.rules)
	}
	return report.WriteRules(w, r.rules)
}

func (r *run) output(w io.Writer, color bool) output {
	switch r.format {
	case "json":
		return report.JSON{W: w}
	case "junit":
		return &report.JUnit{W: w, FailOn: r.failOn}
	case "sarif":
		return &report.SARIF{W: w, Version: r.Version, Rules: slices.Concat(r.rules, r.ownRules())}
	case "github":
		return &report.GitHub{W: w}
	case "summary":
		return &report.JobSummary{W: w, FailOn: r.failOn}
	}
	return &report.Text{W: w, Color: color, Width: cli.Columns(r.stdout), Severity: r.Severity, Names: r.followsStore, Untried: r.untried}
}

// subject judges one subject and writes the findings. name is the name of its tape;
// empty: its usual one.
func (r *run) subject(ctx context.Context, sub ref.Subject, name string) error {
	j, err := r.begin(sub)
	if err == nil {
		j.name = name
		if sub.Store != nil && sub.Session == "" {
			r.judged[sub.Parts[0].Tape.ID()] = true
		}
		err = j.read(ctx, r.follow)
	}
	if err == nil && !r.follow {
		err = ctx.Err() // it was not judged completely
	}
	if err != nil {
		return err
	}
	return r.write(j.section)
}

// write writes the findings of a section.
func (r *run) write(s *report.Section) error {
	if r.live == nil {
		return r.out.Section(s)
	}
	if err := r.live.Totals(s); err != nil {
		return err
	}
	return r.flush()
}
