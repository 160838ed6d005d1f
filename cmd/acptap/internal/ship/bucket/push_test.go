package bucket_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
)

// content returns the unpacked content of an object, and its metadata.
func (s *server) content(t *testing.T, key string) (string, map[string]string) {
	t.Helper()
	o, err := s.backend.GetObject("tapes", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Contents.Close()
	dec, err := zstd.NewReader(o.Contents)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := io.ReadAll(dec)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), o.Metadata
}

// An object contains what export writes, and its key describes it.
func TestPush(t *testing.T) {
	s, store := newServer(t), tapes(t, 1)
	if n := mustPush(t, store, s.bucket(t, "team/a")); n != 1 {
		t.Fatalf("%d new objects", n)
	}
	const tape = "20261122T100000000-tape00"
	want := exported(t, store, tape)
	sum := sha256.Sum256([]byte(want))
	key := fmt.Sprintf("team/a/v1/coder/2026/11/22/%s-%x.jsonl.zst", tape, sum[:8])
	if keys := s.keys(t); len(keys) != 1 || keys[0] != key {
		t.Fatalf("got %q, want %q", keys, key)
	}
	got, about := s.content(t, key)
	if got != want || strings.Contains(got, secret) || !strings.Contains(got, "[redacted]") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, want := range map[string]string{"Frames": "2", "Turns": "0", "Failed": "0", "Version": "v1.2.3"} {
		if got := about["X-Amz-Meta-"+name]; got != want {
			t.Errorf("%s: got %q of %q, want %q", name, got, about, want)
		}
	}
}

// Tapes that have arrived are not sent again, and objects that others have pushed are not
// overwritten.
func TestPushAgain(t *testing.T) {
	s, store := newServer(t), tapes(t, 20)
	to := s.bucket(t, "")
	if n := mustPush(t, store, to); n != 20 || s.new.Load() != 20 {
		t.Fatalf("%d new objects, %d written", n, s.new.Load())
	}
	if n := mustPush(t, store, to); n != 0 || s.puts.Load() != 20 {
		t.Errorf("again: %d new objects, %d requests", n, s.puts.Load()-20)
	}
	other := tapes(t, 20)
	if n := mustPush(t, other, to); n != 0 || s.new.Load() != 20 || s.puts.Load() != 40 {
		t.Errorf("from another store: %d new objects, %d written, %d requests", n, s.new.Load(), s.puts.Load())
	}
	if n := mustPush(t, other, s.bucket(t, "else")); n != 20 {
		t.Errorf("to another place: %d new objects", n)
	}
}

// A tape in the bucket has its tags and notes, including those written later.
func TestPushNotes(t *testing.T) {
	s, store := newServer(t), tapes(t, 2)
	to := s.bucket(t, "")
	mustPush(t, store, to)
	const tape = "20261122T100000001-tape01"
	for i, text := range []string{"it hangs", "it hung"} {
		e := note.Edit{Add: []note.Note{{Text: text}}}
		if _, err := store.Annotate(tape, e); err != nil {
			t.Fatal(err)
		}
		if n := mustPush(t, store, to); n != 1 {
			t.Errorf("%q: %d new objects", text, n)
		}
		if n := mustPush(t, store, to); n != 0 || len(s.keys(t)) != 3+i {
			t.Errorf("%q, again: %d new objects of %d", text, n, len(s.keys(t)))
		}
	}
	copied := record.OpenStore(t.TempDir())
	mustPull(t, copied, s.bucket(t, ""), bucket.Selection{})
	if got := exported(t, copied, tape); !strings.Contains(got, "it hangs") || !strings.Contains(got, "it hung") {
		t.Errorf("the latest is not pulled:\n%s", got)
	}
}

// Notes written while a tape is being pushed are pushed the next time.
func TestPushNotesMeanwhile(t *testing.T) {
	s, store := newServer(t), tapes(t, 1)
	annotate := func(text string) {
		if _, err := store.Annotate("20261122T100000000-tape00", note.Edit{Add: []note.Note{{Text: text}}}); err != nil {
			t.Error(err)
		}
	}
	annotate("before")
	fake := gofakes3.New(s.backend).Server()
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			annotate("meanwhile")
		}
		fake.ServeHTTP(w, r)
	})
	if n := mustPush(t, store, s.bucket(t, "")); n != 1 {
		t.Fatalf("%d new objects", n)
	}
	s.answer(nil)
	if n := mustPush(t, store, s.bucket(t, "")); n != 1 {
		t.Errorf("the next time: %d new objects", n)
	}
}

// With --raw the bucket contains the secrets, in an object separate from the one without
// them.
func TestPushRaw(t *testing.T) {
	s, store := newServer(t), tapes(t, 1)
	mustPush(t, store, s.bucket(t, ""))
	if list, err := push(t.Context(), t, store, s.bucket(t, ""), true); err != nil || len(list) != 1 || !list[0].New {
		t.Fatalf("%+v, %v", list, err)
	}
	with := 0
	for _, key := range s.keys(t) {
		if text, _ := s.content(t, key); strings.Contains(text, secret) {
			with++
		}
	}
	if with != 1 || len(s.keys(t)) != 2 {
		t.Errorf("%d of %d objects have the secret", with, len(s.keys(t)))
	}
}

// The names of objects have no secrets, and nothing that keys are not made of.
func TestPushNames(t *testing.T) {
	s := newServer(t)
	for i, tt := range []struct{ head, want string }{
		{`"name":"my agent/../x"`, "my-agent-..-x/"},
		{`"name":"` + secret + `"`, "ghp_-redacted/"},
		{`"name":"..."`, "unnamed/"},
		{`"name":"Größe"`, "Gr-e/"},
		{`"upstream":"https://user:pass@mcp.example:8080/k/` + secret + `?token=x"`, "mcp.example/"},
		{`"command":["/opt/bin/claude-acp"]`, "claude-acp-"},
		{`"name":"` + strings.Repeat("n", 100) + `"`, strings.Repeat("n", 64) + "/"},
	} {
		store := record.OpenStore(t.TempDir())
		tape := fmt.Sprintf("20261122T10000000%d-abcdef", i)
		add(t, store, fmt.Sprintf(`{"acptap":1,"tape":"%s","started":"2026-11-22T10:00:00.00%dZ",%s}`+"\n"+`{"dir":"c2a","text":"x"}`+"\n", tape, i, tt.head))
		mustPush(t, store, s.bucket(t, ""))
		keys := s.keys(t)
		at := slices.IndexFunc(keys, func(key string) bool { return strings.Contains(key, "/2026/11/22/"+tape+"-") })
		if at < 0 || !strings.HasPrefix(keys[at], "v1/"+tt.want) {
			t.Errorf("%s: no v1/%s in %q", tt.head, tt.want, keys)
		}
	}
}

// Twenty pushes at once, of stores that have the same tapes, bring each tape there once.
func TestPushAtOnce(t *testing.T) {
	s := newServer(t)
	to := s.bucket(t, "")
	stores := []*record.Store{tapes(t, 5), tapes(t, 5), tapes(t, 5)}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { mustPush(t, stores[i%len(stores)], to) })
	}
	all.Wait()
	if len(s.keys(t)) != 5 || s.new.Load() != 5 {
		t.Errorf("%d objects, written %d times", len(s.keys(t)), s.new.Load())
	}
}
