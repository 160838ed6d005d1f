package bucket_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/record"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit = time.Millisecond // between tries
	minio.DefaultRetryCap = time.Millisecond
	os.Exit(m.Run())
}

// A server is object storage with the bucket tapes.
type server struct {
	*httptest.Server
	backend *s3mem.Backend
	fake    http.Handler // answers as it should
	puts    atomic.Int64 // requests that write
	new     atomic.Int64 // objects that were written
	front   atomic.Pointer[http.HandlerFunc]
}

const (
	accessKey = "AKIDEXAMPLE7Q2"
	secretKey = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY"
)

func newServer(t *testing.T) *server {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	s := &server{backend: s3mem.New()}
	if err := s.backend.CreateBucket("tapes"); err != nil {
		t.Fatal(err)
	}
	s.fake = gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front := s.front.Load(); front != nil {
			(*front)(w, r)
			return
		}
		answer := &status{ResponseWriter: w, code: http.StatusOK}
		s.fake.ServeHTTP(answer, r)
		if r.Method == http.MethodPut {
			if s.puts.Add(1); answer.code == http.StatusOK {
				s.new.Add(1)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// A status keeps the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// answer makes the server answer all requests so; nil: as it should.
func (s *server) answer(f http.HandlerFunc) {
	if f == nil {
		s.front.Store(nil)
		return
	}
	s.front.Store(&f)
}

// bucket opens the bucket below a prefix.
func (s *server) bucket(t *testing.T, prefix string) *bucket.Bucket {
	t.Helper()
	return s.patient(t, prefix, bucket.Patience)
}

func (s *server) patient(t *testing.T, prefix string, patience time.Duration) *bucket.Bucket {
	t.Helper()
	a, err := bucket.ParseAddress("s3://tapes/"+prefix+"?endpoint="+s.URL, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bucket.Open(a, patience)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keys returns the keys of all objects.
func (s *server) keys(t *testing.T) (keys []string) {
	t.Helper()
	list, err := s.backend.ListBucket("tapes", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Contents {
		keys = append(keys, c.Key)
	}
	return keys
}

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// tapes makes a store with n tapes, in each of which there is a secret.
func tapes(t *testing.T, n int) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	for i := range n {
		id := fmt.Sprintf("20261122T1000%02d%03d-tape%02d", i/1000, i%1000, i%100)
		add(t, store, fmt.Sprintf(`{"acptap":1,"tape":"%s","started":"2026-11-22T10:00:%02d.%03dZ","name":"coder","command":["coder","--acp"]}
{"seq":1,"at":0.1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"seq":2,"at":0.2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"token":"%s","n":%d}}}
`, id, i/1000, i%1000, secret, i))
	}
	return store
}

func add(t *testing.T, store *record.Store, file string) (tape string) {
	t.Helper()
	tape, err := store.Import(strings.NewReader(file), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// push pushes all tapes of a store, and returns the results.
func push(ctx context.Context, t *testing.T, store *record.Store, to *bucket.Bucket, raw bool) ([]bucket.Pushed, error) {
	t.Helper()
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	p := bucket.Pusher{Store: store, To: to, Nesting: record.NestingOf(l.Tapes), Raw: raw, Version: "v1.2.3"}
	var list []bucket.Pushed
	err = p.Push(ctx, l.Tapes, func(one bucket.Pushed) { list = append(list, one) })
	return list, err
}

// mustPush pushes all tapes of a store, and returns how many objects are new.
func mustPush(t *testing.T, store *record.Store, to *bucket.Bucket) (fresh int) {
	t.Helper()
	list, err := push(t.Context(), t, store, to, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Err != nil {
			t.Error(one.Err)
		}
		if one.New {
			fresh++
		}
	}
	return fresh
}

// pull pulls into a store, and returns the results.
func pull(ctx context.Context, store *record.Store, from *bucket.Bucket, want bucket.Selection) (list []bucket.Pulled, err error) {
	p := bucket.Puller{From: from, To: store}
	err = p.Pull(ctx, want, func(one bucket.Pulled) { list = append(list, one) })
	return list, err
}

func mustPull(t *testing.T, store *record.Store, from *bucket.Bucket, want bucket.Selection) (tapes []string) {
	t.Helper()
	list, err := pull(t.Context(), store, from, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Err != nil || len(one.Notes) > 0 {
			t.Errorf("%s: %v, %q", one.Object, one.Err, one.Notes)
		}
		tapes = append(tapes, one.Tape)
	}
	slices.Sort(tapes)
	return tapes
}

// exported returns the portable form of a tape.
func exported(t *testing.T, store *record.Store, tape string) string {
	t.Helper()
	opened, err := store.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := opened.Export(&b, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
