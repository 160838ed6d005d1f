package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/syntax"
)

// activeRules are the rules selected by flags.
type activeRules struct {
	set  *rule.Set // nil: none
	seed uint64
}

// readRules reads the rules selected by flags: those in files, then those on the command
// line, then those of faults.
func readRules(flags *tap.RuleFlags, f *pflag.FlagSet) (a activeRules, err error) {
	defer func() { err = withCaret(err) }()
	if len(flags.Files)+len(flags.Rules)+len(flags.Faults) == 0 {
		if f.Changed("seed") {
			return a, errors.New("--seed needs --rules, --rule or --fault")
		}
		return a, nil
	}
	a.set = &rule.Set{}
	for _, name := range flags.Files {
		if err := addRules(a.set, name); err != nil {
			return a, err
		}
	}
	lines := make([]string, len(flags.Rules))
	for i, text := range flags.Rules {
		lines[i] = strings.TrimSpace(text)
	}
	if err := a.set.Add("rule", strings.Join(lines, "\n")); err != nil {
		return a, fmt.Errorf("--rule: %w", err)
	}
	for _, text := range flags.Faults {
		if err := a.set.AddFault(text); err != nil {
			return a, err
		}
	}
	var named bool
	a.seed, named = a.set.Seed()
	switch {
	case f.Changed("seed"):
		a.seed = flags.Seed
	case !named:
		a.seed = uint64(rand.Uint32()) // short enough to type
	}
	return a, nil
}

// hold adds the rules of --hold. It returns the Desk where frames wait, or nil if no rule may
// hold frames.
func (a *activeRules) hold(flags *tap.HoldFlags, f *pflag.FlagSet) (*rule.Desk, error) {
	if !flags.Ctl && len(flags.Filters) == 0 {
		if name := cli.Given(f, "wait", "hold-for"); name != "" {
			return nil, fmt.Errorf("--%s needs --hold or --ctl", name)
		}
		if a.set != nil {
			if r := a.set.Holds(); r != nil {
				return nil, fmt.Errorf("%s: the rule %s holds frames, but nothing could release them: add --ctl", r.Where, r.Name)
			}
		}
		return nil, nil
	}
	if flags.Wait < 0 || flags.Limit <= 0 {
		return nil, errors.New("--wait and --hold-for are not negative")
	}
	if a.set == nil {
		a.set = &rule.Set{}
	}
	for i, query := range flags.Filters {
		if strings.TrimSpace(query) == "" {
			return nil, errors.New("--hold needs a query; update:* is one, and kind:request another")
		}
		if err := a.set.Add("hold", fmt.Sprintf("@hold-%d %s => hold [may]", i+1, query)); err != nil {
			return nil, fmt.Errorf("--hold: %w", err)
		}
	}
	desk := rule.NewDesk()
	desk.Wait, desk.Limit = flags.Wait, flags.Limit
	a.set.Attend(desk)
	return desk, nil
}

// serveControl lets users connect to the proxy that records tape. It returns nil if that
// fails.
func serveControl(store, tape string, desk *rule.Desk, w *cli.Warnings) *control.Server {
	s, err := control.Serve(control.Path(store, tape), tape, desk)
	if err != nil {
		w.Print("--ctl: %v", err)
		return nil
	}
	whenClientLeaves(func() { desk.GiveUp("the client has left") })
	return s
}

// addRules adds the rules of a file.
func addRules(set *rule.Set, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return set.Add(name, string(text))
}

// chain returns the interceptors with those around them that apply the rules.
func (a *activeRules) chain(inner ...proxy.Interceptor) []proxy.Interceptor {
	if a.set == nil {
		return inner
	}
	return a.set.Chain(a.seed, inner...)
}

// withCaret adds the faulty line to an error in rules, with a caret below it.
func withCaret(err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err
	}
	return fmt.Errorf("%w\n    %s", err, strings.ReplaceAll(strings.TrimSuffix(wrong.Caret(), "\n"), "\n", "\n    "))
}
