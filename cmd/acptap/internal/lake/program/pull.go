package program

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
)

func newPullCmd(dir *string) *cobra.Command {
	return lake.NewPullCmd(func(cmd *cobra.Command, p *lake.Pull, args []string) error {
		from, err := openBucket(args[0])
		if err != nil {
			return err
		}
		want := bucket.Selection{Agent: p.Agent, Tapes: args[1:]}
		if p.Since != "" {
			if want.Since, err = tapelist.ParseSince(p.Since, time.Now()); err != nil {
				return err
			}
		}
		store, err := ref.OpenStore(*dir)
		if err != nil {
			return err
		}
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		// A killed pull leaves behind the IDs of the tapes that it was importing.
		if err := store.Recover(func() bool { return ctx.Err() != nil }, nil); err != nil {
			cli.Warn(cmd.ErrOrStderr(), "%v", err)
		}
		var failed, unread error
		added := 0
		puller := bucket.Puller{From: from, To: store}
		err = puller.Pull(ctx, want, func(one bucket.Pulled) {
			for _, text := range one.Notes {
				cli.Warn(cmd.ErrOrStderr(), "%s", text)
			}
			switch {
			case one.Err != nil:
				failed = errors.Join(failed, one.Err)
			case p.JSON:
				added++
				unread = cli.WriteJSON(cmd.OutOrStdout(), pulledLine{one.Tape, one.Object})
			default:
				added++
				_, unread = fmt.Fprintln(cmd.OutOrStdout(), one.Tape)
			}
			if unread != nil {
				stop()
			}
		})
		if unread != nil {
			return unread
		}
		if failed == nil && err == nil && added == 0 && !p.JSON {
			cli.Warn(cmd.ErrOrStderr(), "nothing new: the store has every tape that was asked for")
		}
		return errors.Join(failed, err)
	})
}

// A pulledLine is a pulled tape as --json writes it.
type pulledLine struct {
	Tape   string `json:"tape"`
	Object string `json:"object"`
}
