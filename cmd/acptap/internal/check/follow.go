package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
)

// A storeFollower judges the tapes of a store as they are recorded.
type storeFollower struct {
	*run
	store  *record.Store
	newest string // newest tape at the start; empty: none
	looked bool   // the tapes that existed at the start have been read
	judged map[string]*judgement
}

// followStore judges a store's newest tape, those that are being recorded, and each that
// starts later, until ctx is done.
func (r *run) followStore(ctx context.Context, dir string) error {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	f := storeFollower{run: r, store: store, judged: map[string]*judgement{}}
	ids, err := store.Tapes()
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		f.newest = ids[len(ids)-1]
	}
	if cli.IsTerminal(r.stderr) {
		fmt.Fprintf(r.stderr, "judging the tapes that are recorded in %s\n", store.Dir())
	}
	for c, err := range store.Watch(ctx, f.wanted) {
		if err == nil {
			err = f.take(ctx, &c)
		}
		if err != nil && !errors.Is(err, record.ErrNoTape) { // otherwise it has since been deleted
			r.tell(err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.judged)) {
		if err := f.end(id); err != nil {
			return err
		}
	}
	return nil
}

// wanted selects the tapes to read. A tape recorded entirely between two looks is new
// too.
func (f *storeFollower) wanted(tape string, live bool) (from uint64, ok bool) {
	return 1, live || f.looked || tape == f.newest
}

// take handles a change in the store.
func (f *storeFollower) take(ctx context.Context, c *record.Change) error {
	switch c.Kind {
	case record.StoreLooked:
		f.looked = true
	case record.FrameRecorded:
		j, err := f.judgement(ctx, c.Tape)
		if j != nil {
			j.frame(&c.Frame)
		}
		return err
	case record.TapeEnded:
		return f.end(c.Tape)
	}
	return nil
}

// judgement returns the judgement of a tape. It starts one at the first frame, because
// the head is not known earlier. It returns nil for a tape that is not judged.
func (f *storeFollower) judgement(ctx context.Context, id string) (*judgement, error) {
	if j, ok := f.judged[id]; ok {
		return j, nil
	}
	f.judged[id] = nil
	tape, err := f.store.Open(id)
	if err != nil {
		return nil, err
	}
	j, err := f.begin(ref.Subject{Store: f.store, Parts: []ref.Part{{Tape: tape}}})
	if err != nil || j.parts[0].Info.Imported && id != f.newest { // it was recorded earlier
		return nil, err
	}
	if err := j.start(ctx, &j.parts[0]); err != nil {
		return nil, err
	}
	f.judged[id] = j
	return j, nil
}

// end ends a tape.
func (f *storeFollower) end(id string) error {
	j := f.judged[id]
	delete(f.judged, id)
	if j == nil {
		return nil
	}
	j.end()
	return f.write(j.section)
}
