package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
)

// A Player plays the agent of a tape, as Agent and Cassette do.
type Player interface {
	Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error)
}

// A Ruled plays an agent behind a proxy that applies rules.
type Ruled struct {
	Player Player
	Rules  *rule.Set
	Seed   uint64
}

// Check returns an error if a rule holds frames, because no user can release them.
func (r *Ruled) Check() error {
	if h := r.Rules.Holds(); h != nil {
		return fmt.Errorf("%s: the rule %s holds frames, which only acptap proxy --ctl can release", h.Where, h.Name)
	}
	return nil
}

// Run is Player.Run under the rules, and reports the rules that never hit. If a rule ended
// the agent, the error is a *proxy.ExitError, and messages that the client could then no
// longer send are not reported as missing.
func (r *Ruled) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	if err := r.Check(); err != nil {
		return Report{}, err
	}
	var (
		report Report
		err    error
		mu     sync.Mutex
		faults []error // guarded by mu
	)
	chain := r.Rules.Chain(r.Seed)
	over := make(chan struct{})
	p := proxy.Proxy{
		In: in, Out: out, Err: errOut, Interceptors: chain,
		Complain: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, err)
		},
		Peer: &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, errOut io.Writer) int {
			defer close(over)
			report, err = r.Player.Run(ctx, in, out, errOut)
			return 0
		}},
	}
	ended := p.Run(ctx)
	<-over
	report.Seed, report.NeverHit = r.Seed, rule.Missed(chain)
	mu.Lock()
	defer mu.Unlock()
	for _, err := range faults {
		report.note("%v", err)
	}
	var exit *proxy.ExitError
	if errors.As(ended, &exit) && ctx.Err() == nil {
		report.Unused, report.Left = nil, 0
		return report, exit
	}
	return report, err
}
