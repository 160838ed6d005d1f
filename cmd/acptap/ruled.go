package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
)

// activeRules are the rules that flags name.
type activeRules struct {
	set  *rule.Set // nil: none
	seed uint64
}

// readRules reads the rules that flags name: those of files, then those on the command
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
		a.seed = uint64(rand.Uint32()) // short enough to be typed
	}
	return a, nil
}

// addRules adds the rules of a file.
func addRules(set *rule.Set, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return set.Add(name, string(text))
}

// chain returns interceptors with those around them that follow the rules.
func (a *activeRules) chain(inner ...proxy.Interceptor) []proxy.Interceptor {
	if a.set == nil {
		return inner
	}
	return a.set.Chain(a.seed, inner...)
}

// withCaret adds to an error in rules the line, with a caret below it.
func withCaret(err error) error {
	var wrong *rule.SyntaxError
	if !errors.As(err, &wrong) {
		return err
	}
	return fmt.Errorf("%w\n    %s", err, strings.ReplaceAll(strings.TrimSuffix(wrong.Caret(), "\n"), "\n", "\n    "))
}
