package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/record"
)

// newProxyCmd returns acptap proxy with all its features.
func newProxyCmd(dir *string) *cobra.Command {
	cmd := tap.NewCommand(dir, &proxyRest{})
	cmd.Aliases = cli.ProxyNames[1:]
	return cmd
}

// A proxyRest implements what acptap-proxy leaves to acptap.
type proxyRest struct {
	listen listenFlags
	rules  activeRules
	desk   *rule.Desk // nil: no frame waits for a user
}

func (r *proxyRest) Check(o *tap.Options, f *pflag.FlagSet) error {
	r.listen.Listen = o.Listen
	if err := r.listen.check(f, o.Start.Command); err != nil {
		return err
	}
	if err := checkOTLP(o.OTLP); err != nil {
		return err
	}
	if flag := cmp.Or(o.Rules.On(f), o.Holds.On(f)); flag != "" && o.Listen.On() {
		return fmt.Errorf("--%s changes what passes on stdio, and --listen has none", flag)
	}
	var err error
	if r.rules, err = readRules(&o.Rules, f); err != nil {
		return err
	}
	if r.desk, err = r.rules.hold(&o.Holds, f); err != nil {
		return err
	}
	if f.Changed("watch") {
		return checkAfter("watch", o.Watch)
	}
	return nil
}

func (r *proxyRest) Chain(chain []proxy.Interceptor) []proxy.Interceptor {
	return r.rules.chain(chain...)
}

func (r *proxyRest) Attend(o *tap.Options, store *record.Store, journal *record.Recorder, w *cli.Warnings) tap.Attendant {
	a := &attendant{nestedRelays: nestedRelays{store: store, w: w}, sender: newFollower(o.OTLP, store, w)}
	if a.sender != nil {
		a.sender.Begin(journal.Tape())
	}
	if r.desk != nil {
		a.control = serveControl(store.Dir(), journal.Tape(), r.desk, w)
	}
	if o.Watch > 0 {
		a.watch = startWatch(store.Dir(), journal, o.Watch, w)
	}
	return a
}

// An attendant holds what runs alongside the recording of an agent.
type attendant struct {
	nestedRelays
	sender *follower // nil: send nothing
	watch  *ownWatch // nil: watch nothing

	control *control.Server // nil: users cannot connect
}

func (a *attendant) AgentEnded() {
	if a.control != nil {
		a.control.Close()
	}
	a.nestedRelays.close()
	if a.sender != nil {
		a.sender.End()
	}
}

func (a *attendant) TapeEnded() {
	if a.watch != nil {
		a.watch.Stop()
	}
}
