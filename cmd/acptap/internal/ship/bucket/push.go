package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
)

// A Pusher copies tapes from a store to a bucket.
type Pusher struct {
	Store   *record.Store
	To      *Bucket
	Nesting record.Nesting // of the tapes of the store
	Raw     bool           // keep their secrets
	Version string         // of the program, for people who look at an object
}

// A Pushed is the result of pushing a tape.
type Pushed struct {
	Tape   string
	Object string // URL; empty after an error
	Size   int64  // of the object
	New    bool   // the bucket did not have it before
	Err    error
}

// Push copies tapes to the bucket, in no particular order. It skips, without reading
// them, tapes that have arrived there and have not changed since. It calls each for every
// other tape, in the caller's goroutine. An error with one tape does not stop the others;
// Push returns an error if no more can be pushed, or if it cannot save what has arrived.
//
// Several processes may push the same store concurrently. They skip what another one has
// pushed, or learn from the server that the object exists.
func (p *Pusher) Push(ctx context.Context, tapes []record.Info, each func(Pushed)) error {
	seen, err := p.newArrivals()
	if err != nil {
		return err
	}
	tapes = slices.DeleteFunc(slices.Clone(tapes), func(i record.Info) bool { return seen.has(&i) })
	if len(tapes) == 0 {
		return nil
	}
	// Concurrent processes start with different tapes.
	first := rand.IntN(len(tapes))
	tapes = slices.Concat(tapes[first:], tapes[:first])

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type result struct {
		pushed Pushed
		as     ship.Cursor // state in which the tape was pushed
		passed bool
	}
	spread(ctx, tapes, func(info record.Info) result {
		if seen.hasNow(&info) {
			return result{passed: true}
		}
		as := seen.cursor(&info) // taken before reading, so that notes written in the meantime are pushed next time
		pushed, err := p.push(ctx, &info)
		pushed.Tape, pushed.Err = info.Tape, err
		return result{pushed: pushed, as: as}
	}, func(r result) {
		switch err := r.pushed.Err; {
		case r.passed:
			return
		case err == nil:
			if err := seen.add(r.pushed.Tape, r.as); err != nil {
				stop(err)
			}
		case errors.As(err, new(unusableError)):
			stop(err)
			return
		case ctx.Err() != nil:
			return
		}
		each(r.pushed)
	})
	err = seen.flush()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// push copies one tape to the bucket.
func (p *Pusher) push(ctx context.Context, info *record.Info) (pushed Pushed, err error) {
	if until := tapeid.Time(info.Tape); tapeid.HasOwnForm(info.Tape, until) && until.After(time.Now()) {
		return pushed, fmt.Errorf("tape %s: the clock was set back, so its id is ahead of it; push it after %s", info.Tape, until.Local().Format(time.DateTime))
	} else if !tapeid.HasOwnForm(info.Tape, time.Now()) {
		return pushed, fmt.Errorf("tape %s: its id does not tell when it began, so no other store would take it", info.Tape)
	}
	tape, err := p.Store.Open(info.Tape)
	if err != nil {
		return pushed, err
	}
	file, err := pack(tape, p.Raw, ctx.Err)
	if err != nil {
		return pushed, fmt.Errorf("tape %s: %w", info.Tape, err)
	}
	defer file.Close()
	key := name{agentOf(info), info.Tape, file.sum}.key(p.To.Prefix)
	about := map[string]string{
		"Frames":  strconv.FormatUint(info.Frames, 10),
		"Turns":   strconv.FormatUint(info.Turns, 10),
		"Failed":  strconv.FormatUint(info.Failures, 10),
		"Version": p.Version,
	}
	if nested := p.Nesting.Below(info.Tape); len(nested) > 0 {
		about[metaNested] = idsOf(nested)
	}
	fresh, err := p.To.put(ctx, key, io.NewSectionReader(file, 0, file.size), about)
	if err != nil {
		return pushed, fmt.Errorf("tape %s: %w", info.Tape, err)
	}
	return Pushed{Object: p.To.url(key), Size: file.size, New: fresh}, nil
}

// put writes an object unless it exists; fresh is false if it does.
func (b *Bucket) put(ctx context.Context, key string, r *io.SectionReader, about map[string]string) (fresh bool, err error) {
	options := minio.PutObjectOptions{
		ContentType:      "application/zstd", // RFC 8878
		UserMetadata:     about,
		DisableMultipart: true, // all at once or not at all
	}
	options.SetMatchETagExcept("*")
	_, err = b.client.Client.PutObject(ctx, b.Bucket, key, r, r.Size(), options)
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotImplemented {
		// Some servers do not support conditions. Writing the same bytes again does no
		// harm.
		options = minio.PutObjectOptions{ContentType: options.ContentType, UserMetadata: about, DisableMultipart: true}
		_, err = b.client.Client.PutObject(ctx, b.Bucket, key, r, r.Size(), options)
	}
	if errors.As(err, &answer) && answer.StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	return err == nil, b.explain(ctx, err)
}
