package tap

import (
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// RuleFlags are the flags about rules that change the traffic. Only acptap reads rules.
type RuleFlags struct {
	Files  []string
	Rules  []string
	Faults []string
	Seed   uint64
}

// Flags defines the flags.
func (r *RuleFlags) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&r.Files, "rules", nil, "change the traffic as the rules in a `file` say")
	f.StringArrayVar(&r.Rules, "rule", nil, "change the traffic by a `rule`: FILTER => ACTION")
	f.StringArrayVar(&r.Faults, "fault", nil, "change the traffic by a fault, `NAME` or NAME,KEY=VALUE (acptap rules list)")
	f.Uint64Var(&r.Seed, "seed", 0, "with rules, the `number` where random numbers begin (default: another one each time)")
}

// On returns the flag that is set and needs acptap, or "".
func (*RuleFlags) On(f *pflag.FlagSet) string { return cli.Given(f, "rules", "rule", "fault", "seed") }
