package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/priority"
)

// An Own watches the tape that this process records. It reads the journal behind the
// traffic, on a thread that yields to it.
type Own struct {
	after time.Duration
	say   func(format string, args ...any)
	told  map[stall.Kind]time.Time // when a kind was told last

	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
}

// tellEvery is how often one kind is told at most: many clients show their agent's
// stderr, or keep it.
const tellEvery = time.Minute

// lastLook is how long Stop waits until the end of the tape is read.
const lastLook = 100 * time.Millisecond

// Start watches a tape of a store. say is called with what begins to hang, but not with
// what the user is asked: whoever asks the user is the client itself. The caller stops
// it.
func Start(store *record.Store, tape string, after time.Duration, say func(format string, args ...any)) *Own {
	ctx, cancel := context.WithCancel(context.Background())
	o := &Own{after: after, say: say, told: map[stall.Kind]time.Time{}, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		defer func() {
			if r := recover(); r != nil { // the traffic has nothing to do with it
				say("watch: panic: %.300s", fmt.Sprint(r))
			}
		}()
		priority.Lower()
		o.watch(ctx, store, tape)
	}()
	return o
}

// Stop ends the watching, when the tape has ended.
func (o *Own) Stop() {
	select {
	case <-o.done:
	case <-time.After(lastLook):
	}
	o.cancel()
	<-o.done
}

func (o *Own) watch(ctx context.Context, store *record.Store, id string) {
	tape, err := store.Open(id)
	if err != nil {
		o.say("watch: %v", err)
		return
	}
	t := stall.OpenTape(store, id, o.after, time.Now())
	for c, err := range tape.Watch(ctx, 1) {
		if err != nil {
			continue // a later reader says what cannot be read
		}
		now := time.Now()
		for _, change := range t.Take(&c, now) {
			o.tell(&change, now)
		}
		if c.Frame.Events.Has(dialect.AgentEnded) {
			return
		}
	}
}

func (o *Own) tell(c *stall.Change, now time.Time) {
	last, before := o.told[c.Kind]
	if c.Over || c.Kind == stall.Asked || before && now.Sub(last) < tellEvery {
		return
	}
	o.told[c.Kind] = now
	o.say("watch: %s", c.Text)
}
