package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
)

// A Puller copies tapes from a bucket to a store.
type Puller struct {
	From *Bucket
	To   *record.Store
}

// A Selection selects tapes of a bucket.
type Selection struct {
	Since time.Time // began at this time or later; zero: any time
	Agent string    // part of the agent's name; case is ignored
	Tapes []string  // IDs, or parts of IDs that identify one tape of the bucket; none: all
}

// A Pulled is the result of reading an object.
type Pulled struct {
	Tape   string
	Object string   // URL
	Notes  []string // what was not imported exactly as written
	Err    error
}

// Pull copies the selected tapes that the store does not have, and the tapes nested in
// them, in no particular order. It calls each for every object that it reads, in the
// caller's goroutine. An error with one object does not stop the others; Pull returns an
// error if it cannot read any more, or if the bucket's listing does not end, in which
// case it copies what was listed.
func (p *Puller) Pull(ctx context.Context, want Selection, each func(Pulled)) error {
	objects, endless := p.From.list(ctx)
	if endless != nil && !errors.As(endless, new(endlessError)) {
		return endless
	}
	chosen, err := want.of(objects)
	if err != nil {
		return errors.Join(endless, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	to := record.NewImporter(p.To)
	tried := map[string]bool{}
	for len(chosen) > 0 && ctx.Err() == nil {
		here, err := p.here()
		if err != nil {
			return err
		}
		for _, tape := range chosen {
			tried[tape] = true
		}
		chosen = slices.DeleteFunc(chosen, func(tape string) bool { return here[tape] })
		nested := map[string]bool{}
		spread(ctx, chosen, func(tape string) []taken { return p.take(ctx, to, objects[tape]) }, func(list []taken) {
			for _, t := range list {
				if errors.As(t.Err, new(unusableError)) {
					stop(t.Err)
				}
				if ctx.Err() != nil {
					return
				}
				for _, tape := range t.nested {
					nested[tape] = objects[tape] != nil && !tried[tape]
				}
				each(t.Pulled)
			}
		})
		maps.DeleteFunc(nested, func(_ string, wanted bool) bool { return !wanted })
		chosen = slices.Sorted(maps.Keys(nested))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return endless
}

// here returns the set of tapes in the store.
func (p *Puller) here() (map[string]bool, error) {
	ids, err := p.To.Tapes()
	here := make(map[string]bool, len(ids))
	for _, id := range ids {
		here[id] = true
	}
	return here, err
}

// of returns the ids of the selected tapes, in time order.
func (s Selection) of(objects map[string][]object) ([]string, error) {
	ids := slices.Sorted(maps.Keys(objects))
	if len(s.Tapes) > 0 {
		var named []string
		for _, part := range s.Tapes {
			id, err := record.TapeID(ids, part)
			if err != nil {
				return nil, err
			}
			named = append(named, id)
		}
		slices.Sort(named)
		ids = slices.Compact(named)
	}
	agent := strings.ToLower(noWord().ReplaceAllString(s.Agent, "-"))
	return slices.DeleteFunc(ids, func(id string) bool {
		return tapeid.Time(id).Before(s.Since) || !slices.ContainsFunc(objects[id], func(o object) bool {
			return strings.Contains(strings.ToLower(o.agent), agent)
		})
	}), nil
}

// A taken is the result of reading an object, together with the tapes nested in its tape.
type taken struct {
	Pulled
	nested []string
}

// take imports a tape from the first readable one of its objects.
func (p *Puller) take(ctx context.Context, to *record.Importer, objects []object) (list []taken) {
	for _, o := range objects {
		t := taken{Pulled: Pulled{Tape: o.tape, Object: p.From.url(o.key)}}
		t.nested, t.Err = p.takeOne(ctx, to, o, func(text string) { t.Notes = append(t.Notes, text) })
		if errors.Is(t.Err, record.ErrTapeExists) {
			return list // another process has since imported it
		}
		if list = append(list, t); t.Err == nil || ctx.Err() != nil || errors.As(t.Err, new(unusableError)) {
			return list
		}
	}
	return list
}

// takeOne imports the tape in an object and returns the IDs of the tapes nested in it.
func (p *Puller) takeOne(ctx context.Context, to *record.Importer, o object, tell func(string)) (nested []string, err error) {
	at := p.From.url(o.key)
	body, about, _, err := p.From.client.GetObject(ctx, p.From.Bucket, o.key, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, p.From.explain(ctx, err))
	}
	defer body.Close()
	r, err := unpack(body, o.sum)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	defer r.close()
	err = to.ImportTape(r, at, o.tape, tell)
	var content contentError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &content):
		return nil, fmt.Errorf("%s: %w", at, content)
	case err != nil:
		return nil, err
	}
	return nestedIn(about.UserMetadata), nil
}
