package tap

import (
	"time"

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

// HoldFlags are the flags about frames that wait for a user. Only acptap can hold them.
type HoldFlags struct {
	Ctl     bool
	Filters []string
	Wait    time.Duration
	Limit   time.Duration
}

// Flags defines the flags.
func (h *HoldFlags) Flags(f *pflag.FlagSet) {
	f.BoolVar(&h.Ctl, "ctl", false, "let acptap ctl and acptap inspect hold frames and change rules, through a socket")
	f.StringArrayVar(&h.Filters, "hold", nil, "hold the frames that match a `query` while a user is there to release them; implies --ctl")
	f.DurationVar(&h.Wait, "wait", 0, "with --hold, how long the first such frame waits for a user, a `time` such as 60s")
	f.DurationVar(&h.Limit, "hold-for", 10*time.Minute, "the longest `time` for which a frame is held")
}

// On returns the flag that is set, or "".
func (*HoldFlags) On(f *pflag.FlagSet) string { return cli.Given(f, "ctl", "hold", "wait", "hold-for") }
