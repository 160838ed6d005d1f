package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// An object holds a tape, according to its key.
type object struct {
	name
	key      string
	modified time.Time
}

// Limits on a listing, which a server could continue forever.
const (
	maxKeys  = 10_000_000
	maxPages = 20_000   // requests; a full page has 1,000 keys
	maxPage  = 16 << 20 // bytes of an answer
)

// An endlessError means that a listing seems to have no end. What it has listed so far
// may be used.
type endlessError struct{ why string }

func (e endlessError) Error() string { return "the list of its objects does not end: " + e.why }

// list returns the bucket's objects by tape, newest object first. A tape has several if
// it was pushed again after its notes or tags had changed. With an endlessError it
// returns the objects listed so far.
func (b *Bucket) list(ctx context.Context) (map[string][]object, error) {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, listingKey{}, &listing{asked: map[string]int{}}))
	defer cancel()
	objects := map[string][]object{}
	err := b.eachKey(ctx, func(o minio.ObjectInfo) {
		if n, ok := parseKey(b.Prefix, o.Key); ok {
			objects[n.tape] = append(objects[n.tape], object{n, o.Key, o.LastModified})
		}
	})
	for tape, list := range objects {
		slices.SortFunc(list, func(a, b object) int {
			return cmp.Or(b.modified.Compare(a.modified), strings.Compare(a.key, b.key))
		})
		objects[tape] = slices.CompactFunc(list, func(a, b object) bool { return a.key == b.key })
	}
	return objects, err
}

// eachKey calls see for each object of the listing.
func (b *Bucket) eachKey(ctx context.Context, see func(minio.ObjectInfo)) error {
	endless := func(e endlessError) error { return fmt.Errorf("%s at %s: %w", b.Address, b.Endpoint, e) }
	n, mark, next := 0, "", 1
	for o := range b.client.Client.ListObjects(ctx, b.Bucket, minio.ListObjectsOptions{Prefix: listed(b.Prefix), Recursive: true}) {
		var e endlessError
		switch n++; {
		case errors.As(o.Err, &e):
			return endless(e)
		case o.Err != nil:
			return b.explain(ctx, o.Err)
		case n > maxKeys:
			return endless(endlessError{fmt.Sprintf("there are more than %d", maxKeys)})
		case o.Key == mark:
			return endless(endlessError{fmt.Sprintf("%q came again", b.clean(o.Key))})
		case n == next: // keys that repeat in a cycle meet the mark before it has doubled twice (Brent)
			mark, next = o.Key, 2*next
		}
		see(o)
	}
	return ctx.Err()
}

// listingKey is the key of a *listing in the context of its requests.
type listingKey struct{}

// A listing limits the requests for one list of objects, because minio asks for pages endlessly,
// and reads each regardless of its size.
type listing struct {
	asked map[string]int // number of requests for each page, by its token
}

// ask is called before each request for a page.
func (l *listing) ask(token string) error {
	l.asked[token]++
	switch {
	case l.asked[token] > tries: // failed requests are retried
		return endlessError{"the same page came again"}
	case len(l.asked) > maxPages:
		return endlessError{fmt.Sprintf("there are more than %d pages", maxPages)}
	}
	return nil
}

// pages applies the limits of a listing to a request.
func (t transport) pages(r *http.Request) (*http.Response, error) {
	l, ok := r.Context().Value(listingKey{}).(*listing)
	query := r.URL.Query()
	if !ok || !query.Has("list-type") {
		return t.Transport.RoundTrip(r)
	}
	if err := l.ask(query.Get("continuation-token")); err != nil {
		return nil, err
	}
	resp, err := t.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &page{resp.Body, maxPage}
	}
	return resp, err
}

// A page is the body of a page of a listing.
type page struct {
	io.ReadCloser
	left int
}

func (p *page) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, endlessError{fmt.Sprintf("a page has more than %d MiB", maxPage>>20)}
	}
	n, err := p.ReadCloser.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}
