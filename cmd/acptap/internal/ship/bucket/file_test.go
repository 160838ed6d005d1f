package bucket_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
)

// An object is there when it is whole, in the place of one before.
func TestFile(t *testing.T) {
	s := newServer(t)
	b := s.bucket(t, "some/where")
	const name, key = "table=turns/a.parquet", "some/where/table=turns/a.parquet"
	begin := func(text string) *bucket.File {
		t.Helper()
		f, err := b.Create(name, "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
		return f
	}
	begin("one").Discard()
	if keys := s.keys(t); len(keys) > 0 {
		t.Errorf("discarded: there is %q", keys)
	}
	for _, text := range []string{"two", "three"} {
		if err := begin(text).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := s.backend.GetObject("tapes", key, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(o.Contents)
		if err != nil || string(got) != text || o.Metadata["Content-Type"] != "text/plain" {
			t.Errorf("got %q, %v, %v, want %q", got, o.Metadata, err, text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	if stop(); !errors.Is(begin("four").Commit(ctx), context.Canceled) {
		t.Error("cancelled, and no error that says so")
	}
	s.answer(refusal(http.StatusForbidden, "AccessDenied"))
	if err := begin("five").Commit(t.Context()); err == nil || !strings.Contains(err.Error(), "s3://tapes/some/where at ") {
		t.Errorf("refused: got %v", err)
	}
}
