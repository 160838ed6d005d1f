package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/control"
)

// A heldLog writes each frame that waits, and knows which of them still wait.
type heldLog struct {
	out     io.Writer
	waiting map[uint64]bool
	seen    int // frames that a rule held

	asked map[uint64]bool // what waited when the proxy was asked what waits; nil: it is not asked
	gone  map[uint64]bool // what went after that
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
	for _, h := range x.client.Hello.Held {
		if err := log.show(h); err != nil {
			return err
		}
	}
	answers, again := make(chan whatWaits, 1), false
	ask := func() {
		log.ask()
		x.background.Go(func() { answers <- askWaits(ctx, x.client) }) // meanwhile events must be read
	}
	for {
		var err error
		select {
		case n := <-x.events:
			switch n.Kind {
			case "held":
				err = log.show(*n.Held)
			case "gone":
				log.leaves(n.ID)
			case "lost":
				if again = log.asked != nil; !again {
					ask()
				}
			case "ended":
				return nil
			}
		case w := <-answers:
			if err = w.err; err == nil {
				err = log.replace(w)
			}
			if again && err == nil {
				again = false
				ask()
			}
		case <-x.client.Done():
			if len(x.events) > 0 { // which may say that the proxy has ended
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

// show writes a frame that waits, unless it was written before.
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

// leaves notes that a frame waits no longer.
func (l *heldLog) leaves(id uint64) {
	delete(l.waiting, id)
	if l.asked != nil {
		l.gone[id] = true
	}
}

// ask notes that the proxy is asked what waits, because events were lost.
func (l *heldLog) ask() { l.asked, l.gone = maps.Clone(l.waiting), map[uint64]bool{} }

// A whatWaits is what the proxy says of the frames that wait.
type whatWaits struct {
	held []control.Held
	hits int // of the rule by which this user holds frames
	err  error
}

func askWaits(ctx context.Context, c *control.Client) (w whatWaits) {
	if w.held, w.err = c.Held(ctx); w.err != nil {
		return w
	}
	rules, err := c.Rules(ctx)
	for _, r := range rules {
		if r.Own {
			w.hits = r.Hits
		}
	}
	w.err = err
	return w
}

// replace takes what the proxy says in place of what was known when it was asked. Events
// that came since then are newer.
func (l *heldLog) replace(w whatWaits) error {
	there := map[uint64]bool{}
	for _, h := range w.held {
		there[h.ID] = true
		if l.gone[h.ID] {
			continue
		}
		if err := l.show(h); err != nil {
			return err
		}
	}
	for id := range l.asked {
		if !there[id] {
			delete(l.waiting, id)
		}
	}
	l.seen = max(l.seen, w.hits)
	l.asked, l.gone = nil, nil
	return nil
}
