package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// An ownWatch watches the tape that this process records. It reads the journal after the
// traffic has passed, on a low-priority thread.
type ownWatch struct {
	after time.Duration
	say   func(format string, args ...any)
	told  map[stall.Kind]time.Time // when each kind was last reported

	cancel context.CancelFunc
	behind atomic.Bool   // the journal may have more than was read
	done   chan struct{} // closed when the goroutine ends
}

// tellEvery is the shortest time between two reports of one kind: many clients show or
// keep their agent's stderr.
const tellEvery = time.Minute

// lastLook is how long Stop waits for the rest of the tape to be read.
const lastLook = 100 * time.Millisecond

// Nothing can hang during a flood of frames, so we do not read the journal then: a
// low-priority thread can long block one of the Go scheduler's two processors, and
// with it the traffic (BenchmarkWatch).
const (
	flood     = 256 << 10 // bytes a second
	lookEvery = 50 * time.Millisecond
	maxRead   = 2 * time.Millisecond // until the next check for a flood
	calmLooks = 2                    // number of looks without a flood before reading resumes
	maxRest   = 5 * time.Second      // after which some is read despite a flood
)

// startOwnWatch watches the tape of a recorder in this process. It calls say for each new
// stall, except for questions to the user, which the client itself asks. The caller must
// call Stop.
func startOwnWatch(store *record.Store, journal *record.Recorder, after time.Duration, say func(format string, args ...any)) *ownWatch {
	ctx, cancel := context.WithCancel(context.Background())
	o := &ownWatch{after: after, say: say, told: map[stall.Kind]time.Time{}, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		defer func() {
			if r := recover(); r != nil { // must not end the traffic
				say("watch: panic: %.300s", fmt.Sprint(r))
			}
		}()
		record.LowerPriority()
		o.watch(ctx, store, journal)
	}()
	return o
}

// Stop ends the watch after the tape has ended. It waits only briefly for the goroutine,
// which may barely run on a busy machine; it only reads, so it may outlive Stop.
func (o *ownWatch) Stop() {
	defer o.cancel()
	if o.behind.Load() {
		return
	}
	select {
	case <-o.done:
	case <-time.After(lastLook):
	}
}

func (o *ownWatch) watch(ctx context.Context, store *record.Store, journal *record.Recorder) {
	tape, err := store.Open(journal.Tape())
	if err != nil {
		o.say("watch: %v", err)
		return
	}
	t := stall.OpenTape(store, tape.ID(), o.after, time.Now())
	take := func(c *record.Change) {
		now := time.Now()
		for _, change := range t.Take(c, now) {
			o.tell(&change, now)
		}
	}
	read := journal.End()          // the length up to which the next look reads the journal
	seen, last := read, time.Now() // length and time of the last check for a flood
	for c, err := range tape.Watch(ctx, 1) {
		if err != nil {
			continue // a later reader reports it
		}
		take(&c)
		switch now := time.Now(); {
		case c.Frame.Events.Has(dialect.AgentEnded):
			return
		case c.Kind == record.StoreLooked:
			o.behind.Store(false)
			if read = o.await(ctx, journal, read, take); read < 0 {
				return
			}
			seen, last = read, time.Now()
		case now.Sub(last) > maxRead:
			if isFlood(journal.End()-seen, now.Sub(last)) && o.await(ctx, journal, -1, take) < 0 {
				return
			}
			seen, last = journal.End(), time.Now() // this look does not have to get that far
		}
	}
}

// await blocks until the journal is longer than read and not growing too fast to follow.
// While the journal does not grow, it lets take know that time passes. It returns the
// length of the journal, or -1 if ctx is done.
func (o *ownWatch) await(ctx context.Context, journal *record.Recorder, read int64, take func(*record.Change)) int64 {
	before, rested, calm := journal.End(), time.Duration(0), 0
	for {
		began := time.Now()
		if !rest(ctx, lookEvery) {
			return -1
		}
		end := journal.End()
		switch {
		case end == read:
			take(&record.Change{Kind: record.StoreLooked, Began: began})
			continue
		case rested >= maxRest:
			return end
		case !isFlood(end-before, time.Since(began)):
			if calm++; calm == calmLooks {
				return end
			}
		default:
			o.behind.Store(true)
			calm = 0
		}
		rested += lookEvery
		before = end
	}
}

func isFlood(bytes int64, in time.Duration) bool { return float64(bytes) > flood*in.Seconds() }

// rest waits for d and reports whether ctx is still live.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (o *ownWatch) tell(c *stall.Change, now time.Time) {
	last, before := o.told[c.Kind]
	if c.Over || c.Kind == stall.Asked || before && now.Sub(last) < tellEvery {
		return
	}
	o.told[c.Kind] = now
	o.say("watch: %s", c.Text)
}
