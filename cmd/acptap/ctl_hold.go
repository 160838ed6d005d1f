package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/control"
)

// A heldLog writes each frame that begins to wait, and tracks which ones still wait.
type heldLog struct {
	out     io.Writer
	waiting map[uint64]bool
	seen    int // frames that a rule held
}

// hold holds frames until it is interrupted or the proxy ends, and writes each of them.
func (x *ctl) hold(args []string) error {
	if len(args) > 0 {
		if err := x.client.Hold(x.ctx, strings.Join(args, " "), x.flags.count, x.flags.limit); err != nil {
			return err
		}
	} else if x.flags.count > 0 || x.flags.limit > 0 {
		return errors.New("--count and --for need a query")
	}
	ctx, stop := context.WithCancel(x.ctx)
	defer stop()
	x.background.Go(func() { x.client.Attend(ctx) })
	log := &heldLog{out: x.out, waiting: map[uint64]bool{}}
	hits := make(chan hitCount, 1)
	asking, again := false, false
	ask := func() {
		asking, again = true, false
		x.background.Go(func() { hits <- ownHits(ctx, x.client) }) // events must be read meanwhile
	}
	for {
		var err error
		select {
		case n := <-x.events:
			switch n.Kind {
			case "held":
				err = log.show(*n.Held)
			case "gone":
				delete(log.waiting, n.ID)
			case "lost":
				if again = asking; !again {
					ask()
				}
			case "ended":
				return nil
			}
		case h := <-hits:
			log.seen, err, asking = max(log.seen, h.hits), h.err, false
			if again {
				ask()
			}
		case <-x.client.Done():
			if len(x.events) > 0 { // they may say that the proxy has ended
				continue
			}
			return x.client.Err()
		case <-x.ctx.Done():
			return nil
		}
		if err != nil {
			return err
		}
		if x.flags.count > 0 && log.seen >= x.flags.count && len(log.waiting) == 0 {
			return nil
		}
	}
}

// show writes a waiting frame, unless it already has.
func (l *heldLog) show(h control.Held) error {
	if l.waiting[h.ID] {
		return nil
	}
	l.waiting[h.ID] = true
	if h.Behind == 0 || h.Rule != "" {
		l.seen++
	}
	return cli.WriteJSON(l.out, h)
}

// A hitCount is the number of hits of the rule by which a user holds frames.
type hitCount struct {
	hits int
	err  error
}

func ownHits(ctx context.Context, c *control.Client) hitCount {
	rules, err := c.Rules(ctx)
	for _, r := range rules {
		if r.Own {
			return hitCount{r.Hits, err}
		}
	}
	return hitCount{0, err}
}
