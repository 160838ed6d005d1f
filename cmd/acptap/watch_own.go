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

// An ownWatch watches the tape that this process records. It reads the journal behind the
// traffic, on a thread that yields to it.
type ownWatch struct {
	after time.Duration
	say   func(format string, args ...any)
	told  map[stall.Kind]time.Time // when a kind was told last

	cancel context.CancelFunc
	behind atomic.Bool   // there may be more to read
	done   chan struct{} // closed when it has ended
}

// tellEvery is how often one kind is told at most: many clients show their agent's
// stderr, or keep it.
const tellEvery = time.Minute

// lastLook is how long Stop waits until the end of the tape is read.
const lastLook = 100 * time.Millisecond

// In a flood, which is the opposite of what is looked for, the journal is not read. A
// thread of the lowest priority may hold one of two processors of the Go scheduler for
// long, and the traffic would wait for it (BenchmarkWatch in cmd/acptap).
const (
	flood     = 256 << 10 // bytes a second
	lookEvery = 50 * time.Millisecond
	maxRead   = 2 * time.Millisecond // before it is seen whether there is a flood
	calmLooks = 2                    // without a flood, before the journal is read
	maxRest   = 5 * time.Second      // then some is read all the same
)

// startOwnWatch watches a tape of a store that a recorder of this process writes. say is called
// with what begins to hang, but not with what the user is asked: whoever asks the user
// is the client itself. The caller stops it.
func startOwnWatch(store *record.Store, journal *record.Recorder, after time.Duration, say func(format string, args ...any)) *ownWatch {
	ctx, cancel := context.WithCancel(context.Background())
	o := &ownWatch{after: after, say: say, told: map[stall.Kind]time.Time{}, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		defer func() {
			if r := recover(); r != nil { // the traffic has nothing to do with it
				say("watch: panic: %.300s", fmt.Sprint(r))
			}
		}()
		record.LowerPriority()
		o.watch(ctx, store, journal)
	}()
	return o
}

// Stop ends the watching, when the tape has ended. The goroutine may outlive it, since
// beside busy processes it hardly gets any time; it only reads.
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
	read := journal.End()          // so much of the journal is read by the next look's end
	seen, last := read, time.Now() // how long it was, and when, to see a flood
	for c, err := range tape.Watch(ctx, 1) {
		if err != nil {
			continue // a later reader says what cannot be read
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
			seen, last = journal.End(), time.Now() // this look need not get so far
		}
	}
}

// await waits until the journal is longer than what was read, and grows no faster than
// is to be read. Meanwhile it takes it that nothing comes. It returns how long the
// journal is, and -1 if ctx is done before.
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

// rest reports whether the time has passed before ctx was done.
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
