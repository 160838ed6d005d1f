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

// A Pusher brings tapes of a store to a bucket.
type Pusher struct {
	Store   *record.Store
	To      *Bucket
	Nesting record.Nesting // of the tapes of the store
	Raw     bool           // with their secrets
	Version string         // of the program, for those who look at an object
}

// A Pushed is what has become of a tape.
type Pushed struct {
	Tape   string
	Object string // URL; empty after an error
	Size   int64  // of the object
	New    bool   // it was not there before
	Err    error
}

// Push brings tapes to the bucket, whatever their order, but for those that have arrived
// there before and have not changed, which are not read. each is called for each of the
// others, from this goroutine. What is wrong with one tape does not hold up others; an
// error is that none can be brought there any more, or that nobody can remember which were.
//
// Several processes may push the same store at once. What one has brought there the others
// pass over, or find out from the server.
func (p *Pusher) Push(ctx context.Context, tapes []record.Info, each func(Pushed)) error {
	seen, err := p.newArrivals()
	if err != nil {
		return err
	}
	tapes = slices.DeleteFunc(slices.Clone(tapes), func(i record.Info) bool { return seen.has(&i) })
	if len(tapes) == 0 {
		return nil
	}
	// Those who push at once begin at different tapes.
	first := rand.IntN(len(tapes))
	tapes = slices.Concat(tapes[first:], tapes[:first])

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type result struct {
		pushed Pushed
		as     ship.Cursor // what was pushed
		passed bool
	}
	spread(ctx, tapes, func(info record.Info) result {
		if seen.hasNow(&info) {
			return result{passed: true}
		}
		as := seen.cursor(&info) // before it is read: what is written on it meanwhile is pushed the next time
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

// push brings one tape to the bucket.
func (p *Pusher) push(ctx context.Context, info *record.Info) (pushed Pushed, err error) {
	if !tapeid.HasOwnForm(info.Tape, time.Now()) {
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

// put writes an object where none is. fresh is false if one is there.
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
		// Some servers do not know conditions. To write the same bytes again does no harm.
		options = minio.PutObjectOptions{ContentType: options.ContentType, UserMetadata: about, DisableMultipart: true}
		_, err = b.client.Client.PutObject(ctx, b.Bucket, key, r, r.Size(), options)
	}
	if errors.As(err, &answer) && answer.StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	return err == nil, b.explain(ctx, err)
}
