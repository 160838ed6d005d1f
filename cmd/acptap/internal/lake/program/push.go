package program

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newPushCmd(dir *string) *cobra.Command {
	return lake.NewPushCmd(func(cmd *cobra.Command, p *lake.Push, args []string) error {
		to, err := openBucket(args[0])
		if err != nil {
			return err
		}
		if p.Raw && !to.Raw {
			return fmt.Errorf("--raw would leave secrets in %s; to allow that, append ?raw=1 to the URL", to.Address)
		}
		store, l, err := ref.ListStore(*dir)
		if err != nil {
			return err
		}
		nesting := record.NestingOf(l.Tapes)
		tapes, live, failed := chosen(&p.Which, *dir, args[1:], &l, nesting)
		if failed != nil && !p.Which.Flagged() {
			return failed
		}
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		bar := cli.NewProgress(cmd.ErrOrStderr(), "pushing")
		var unread error
		done, added := 0, 0
		pusher := bucket.Pusher{Store: store, To: to, Nesting: nesting, Raw: p.Raw, Version: cli.Version()}
		err = pusher.Push(ctx, tapes, func(one bucket.Pushed) {
			bar.End()
			done++
			if one.New {
				added++
			}
			switch {
			case one.Err != nil:
				failed = errors.Join(failed, one.Err)
			case p.JSON:
				unread = cli.WriteJSON(cmd.OutOrStdout(), pushedLine{one.Tape, one.Object, one.Size, one.New})
			case one.New:
				_, unread = fmt.Fprintln(cmd.OutOrStdout(), one.Object)
			}
			if unread != nil {
				stop()
			}
			bar.Count(done, len(tapes))
		})
		bar.End()
		if len(live) > 0 && cli.IsTerminal(cmd.ErrOrStderr()) {
			cli.Warn(cmd.ErrOrStderr(), "still being recorded, so not pushed: %d of %d tapes", len(live), len(live)+len(tapes))
		}
		if unread != nil {
			return unread
		}
		if failed == nil && err == nil && added == 0 && !p.JSON {
			writeNothingPushed(cmd.ErrOrStderr(), len(tapes))
		}
		return errors.Join(failed, err)
	})
}

// writeNothingPushed says why push has printed no URL.
func writeNothingPushed(w io.Writer, tapes int) {
	if tapes == 0 {
		cli.Warn(w, "nothing to push: no tape that has ended was chosen")
		return
	}
	cli.Warn(w, "nothing new: %s there already", termtext.Counted(tapes, "tape"))
}

// A pushedLine is a pushed tape as --json writes it.
type pushedLine struct {
	Tape   string `json:"tape"`
	Object string `json:"object"`
	Bytes  int64  `json:"bytes"`
	New    bool   `json:"new"`
}

// chosen returns the tapes to push, and the selected ones that are still being recorded.
// err says which of the requested tapes cannot be pushed.
func chosen(which *tapelist.Subjects, dir string, args []string, l *record.Listing, nesting record.Nesting) (ended []record.Info, live []string, err error) {
	subjects, broken, err := which.Find(dir, args, nil)
	if err != nil {
		return nil, nil, err
	}
	named := map[string]bool{}
	for _, sub := range subjects {
		tape := sub.Parts[0].Tape.ID()
		switch {
		case sub.Store == nil:
			return nil, nil, fmt.Errorf("%s is a file: acptap import adds it to the store, from which it can be pushed", sub.File)
		case sub.Session != "":
			return nil, nil, fmt.Errorf("%s is a session, and only whole tapes are pushed, such as %s", sub.Session, tape)
		}
		named[tape] = true
		for _, below := range nesting.Below(tape) {
			named[below.Tape] = true
		}
	}
	for i := range l.Tapes {
		switch info := &l.Tapes[i]; {
		case !named[info.Tape]:
		case info.Live:
			live = append(live, info.Tape)
		default:
			ended = append(ended, *info)
		}
	}
	err = errors.Join(broken...)
	if len(live) > 0 && !which.Flagged() {
		err = fmt.Errorf("tape %s: %w; push it when it has ended", live[0], record.ErrLive)
	}
	return ended, live, err
}

// openBucket opens the bucket at an address.
func openBucket(address string) (*bucket.Bucket, error) {
	a, err := bucket.ParseAddress(address, os.Getenv)
	if err != nil {
		return nil, err
	}
	return bucket.Open(a, bucket.Patience)
}
