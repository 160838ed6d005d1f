package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/record"
)

func newShipCmd(dir *string) *cobra.Command {
	var s shipping
	cmd := &cobra.Command{
		Use:   "ship [flags] [REF...]",
		Short: "Send tapes as spans to a collector of OpenTelemetry",
		Args:  cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(cmd.Flags(), args); err != nil {
				return err
			}
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			s.stdout, s.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if s.status {
				return s.writeStatus(store)
			}
			if err := s.open(store); err != nil {
				return err
			}
			if (otlp.Environment)(os.Getenv).Disabled() {
				cli.Warn(s.stderr, "OTEL_SDK_DISABLED is true: nothing is sent")
				return nil
			}
			list, err := namedTapes(*dir, args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop() // signals are not caught earlier, so that they interrupt the reading of files
			switch {
			case s.follow:
				return s.following(ctx)
			case len(args) > 0:
				return s.once(ctx, nil, func(ctx context.Context) error { return s.tapes(ctx, list) })
			}
			return s.once(ctx, s.begins(time.Time{}), s.shipper.All)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.otlp, "otlp", otlpFromEnv, "`URL` to send to; env: as the variables OTEL_* say")
	f.Lookup("otlp").NoOptDefVal = otlpFromEnv
	f.StringVar(&s.list, "signals", "traces", "what to send: `list` of traces, metrics and logs")
	f.BoolVar(&s.all, "all", false, "also tapes that --since or --follow left out")
	f.StringVar(&s.since, "since", "", "only tapes since this `time`: an age such as 2h or 7d, or a date such as 2026-01-31")
	f.BoolVarP(&s.follow, "follow", "f", false, "continue, and send what is recorded later")
	f.BoolVar(&s.untilIdle, "until-idle", false, "with --follow: end when nothing is being recorded and all was sent, or a minute later")
	f.BoolVar(&s.content, "content", false, "also what was said, titles and paths, without secrets")
	f.BoolVar(&s.again, "again", false, "also what was sent already")
	f.BoolVar(&s.dry, "dry-run", false, "only say what would be sent")
	f.BoolVar(&s.status, "status", false, "only say what has not arrived, for each destination")
	f.BoolVar(&s.asJSON, "json", false, "one JSON object a line")
	return cmd
}

// otlpFromEnv is the value of --otlp that leaves the URL to the environment.
const otlpFromEnv = "env"

// otlpAddress returns the URL in --otlp, or "" if the environment sets it.
func otlpAddress(flag string) string {
	if flag == otlpFromEnv {
		return ""
	}
	return flag
}

// shipping holds the flags and the state of acptap ship.
type shipping struct {
	otlp, since, list                   string
	all, follow, untilIdle              bool
	content, again, dry, status, asJSON bool

	from           time.Time     // parsed from since
	signals        []otlp.Signal // parsed from list
	shipper        ship.Shipper
	stdout, stderr io.Writer
	sent           shipped
	err            error // from writing to stdout
}

// check returns an error for flags that do not go together, and parses them.
func (s *shipping) check(f *pflag.FlagSet, args []string) (err error) {
	if len(args) > 0 {
		if strings.Contains(args[0], "://") {
			return errors.New("a URL is not a tape; --otlp takes one only after =: --otlp=http://localhost:4318") // do not quote it: it may contain a password
		}
		if name := cli.Given(f, "all", "since", "follow", "status"); name != "" {
			return fmt.Errorf("--%s is about the tapes of the store, and %q names one", name, args[0])
		}
	}
	for name, others := range map[string][]string{
		"all": {"since"}, "status": {"all", "since", "follow", "content", "again", "dry-run"}, "follow": {"again", "dry-run"},
	} {
		if err := cli.Exclusive(f, name, others...); err != nil {
			return err
		}
	}
	if s.untilIdle && !s.follow {
		return errors.New("--until-idle is about when --follow ends")
	}
	if s.signals, err = otlp.ParseSignals(s.list); err != nil {
		return fmt.Errorf("--signals: %w", err)
	}
	if s.since != "" {
		s.from, err = tapelist.ParseSince(s.since, time.Now())
	}
	return err
}

// begins returns the time from which tapes must be delivered, or nil to leave it
// unchanged. unsaid is the default if neither the user nor an earlier run has set it.
func (s *shipping) begins(unsaid time.Time) *time.Time {
	switch {
	case s.all:
		return &time.Time{}
	case s.since != "":
		return &s.from
	}
	if head, _, err := s.shipper.To.Read(); err == nil && head.Begun {
		return nil
	}
	return &unsaid
}

// open creates the shipper.
func (s *shipping) open(store *record.Store) error {
	env := otlp.Environment(os.Getenv)
	clients := map[otlp.Signal]*otlp.Client{}
	for _, signal := range s.signals {
		c, err := env.Client(signal, otlpAddress(s.otlp))
		if err != nil {
			return err
		}
		c.Encoder.Version = cli.Version()
		clients[signal] = c
	}
	cumulative, err := env.Cumulative()
	if err != nil {
		return err
	}
	service, attrs, err := env.Resource()
	if err != nil {
		return err
	}
	s.shipper = ship.Shipper{
		Store: store, Clients: clients, Cumulative: cumulative,
		Content: s.content || env.WantsContent(), Service: service, Resource: attrs,
		Dry: s.dry, Again: s.again, Tell: s.tell,
	}
	s.shipper.To = ship.To(store.Dir(), s.shipper.Main().URL.String())
	return nil
}

// patience limits how long to retry reaching a destination.
const patience = 30 * time.Second

// once sends what is waiting and reports how much it sent.
func (s *shipping) once(ctx context.Context, from *time.Time, send func(context.Context) error) error {
	s.shipper.Patience = patience
	if !s.dry {
		if err := s.shipper.Lock(ctx); err != nil {
			return err
		}
		defer s.shipper.To.Unlock()
	}
	err := s.shipper.Open(from)
	if err == nil {
		err = send(ctx)
	}
	s.done()
	return errors.Join(err, s.answer())
}

// following sends new recordings until a signal ends it or, with --until-idle, until
// nothing remains to be sent.
func (s *shipping) following(ctx context.Context) error {
	err := s.shipper.Run(ctx, s.begins(time.Now()), s.untilIdle)
	if ctx.Err() != nil {
		err = nil // a signal is the normal end
	}
	s.done()
	return errors.Join(err, s.answer())
}

// A subjectTape is a tape named by a REF.
type subjectTape struct {
	*record.Tape
	inStore bool
}

// namedTapes returns the tapes that refs name, each tape of the store once.
func namedTapes(dir string, refs []string, stdin io.Reader) (list []subjectTape, err error) {
	for _, name := range refs {
		sub, err := ref.Resolve(dir, name, stdin)
		if err != nil {
			return nil, err
		}
		for _, p := range sub.Parts {
			one := subjectTape{p.Tape, sub.Store != nil}
			if one.inStore && slices.ContainsFunc(list, func(o subjectTape) bool { return o.inStore && o.ID() == one.ID() }) {
				continue
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// tapes ships the listed tapes one by one.
func (s *shipping) tapes(ctx context.Context, list []subjectTape) error {
	for _, t := range list {
		if err := s.shipper.Tape(ctx, t.Tape, t.inStore); err != nil {
			return err
		}
	}
	return nil
}
