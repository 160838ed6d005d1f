package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/record"
)

// A pulled tape equals its export, byte for byte, and is pulled only once.
func TestPull(t *testing.T) {
	s, store := newServer(t), tapes(t, 10)
	mustPush(t, store, s.bucket(t, "a"))
	copied := record.OpenStore(t.TempDir())
	want, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	if got := mustPull(t, copied, s.bucket(t, "a"), bucket.Selection{}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tape := range want {
		if got, want := exported(t, copied, tape), exported(t, store, tape); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if got := mustPull(t, copied, s.bucket(t, "a"), bucket.Selection{}); len(got) > 0 {
		t.Errorf("again: %q", got)
	}
	if n := mustPush(t, copied, s.bucket(t, "a")); n > 0 {
		t.Errorf("%d new objects of what was pulled", n)
	}
}

func TestPullSelection(t *testing.T) {
	s, store := newServer(t), record.OpenStore(t.TempDir())
	for _, tape := range []struct{ id, started, agent string }{
		{"20261120T100000000-aaaaaa", "2026-11-20T10:00:00Z", "Claude Code"},
		{"20261121T100000000-bbbbbb", "2026-11-21T10:00:00Z", "gemini"},
		{"20261122T100000000-bbbccc", "2026-11-22T10:00:00Z", "claude"},
	} {
		add(t, store, fmt.Sprintf(`{"acptap":1,"tape":"%s","started":"%s","name":"%s"}`+"\n"+`{"dir":"c2a","text":"x"}`+"\n", tape.id, tape.started, tape.agent))
	}
	mustPush(t, store, s.bucket(t, ""))
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		want  bucket.Selection
		tapes string // the ends of their ids
	}{
		{bucket.Selection{}, "aaaaaa bbbbbb bbbccc"},
		{bucket.Selection{Since: day(21)}, "bbbbbb bbbccc"},
		{bucket.Selection{Agent: "CLAUDE"}, "aaaaaa bbbccc"},
		{bucket.Selection{Agent: "claude code"}, "aaaaaa"},
		{bucket.Selection{Agent: "claude", Since: day(21)}, "bbbccc"},
		{bucket.Selection{Tapes: []string{"aaaa", "bbbbbb", "aaaaaa"}}, "aaaaaa bbbbbb"},
		{bucket.Selection{Tapes: []string{"aaaa"}, Since: day(21)}, ""},
	} {
		var ends []string
		for _, tape := range mustPull(t, record.OpenStore(t.TempDir()), s.bucket(t, ""), tt.want) {
			ends = append(ends, tape[len(tape)-6:])
		}
		if got := strings.Join(ends, " "); got != tt.tapes {
			t.Errorf("%+v: got %s, want %s", tt.want, got, tt.tapes)
		}
	}
	for part, want := range map[string]error{"bbb": record.ErrAmbiguous, "zzz": record.ErrNoTape} {
		if _, err := pull(t.Context(), record.OpenStore(t.TempDir()), s.bucket(t, ""), bucket.Selection{Tapes: []string{part}}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", part, err, want)
		}
	}
}

// A tape is pulled together with the tapes nested in it, directly or not.
func TestPullNested(t *testing.T) {
	s, store := newServer(t), tapes(t, 1)
	const parent = "20261122T100000500-parent"
	below := []string{"20261122T100001000-server", "20261122T100002000-nested"}
	bundle := record.NewImporter(store)
	above := ""
	for i, id := range append([]string{parent}, below...) {
		file := fmt.Sprintf(`{"acptap":1,"tape":"%s","started":"2026-11-22T10:00:0%d.%d00Z","parent":{"tape":"%s","server":"fs"}}`+"\n"+`{"dir":"c2a","text":"x"}`+"\n", id, i, 5*max(0, 1-i), above)
		if _, err := bundle.Import(strings.NewReader(file), "file", nil); err != nil {
			t.Fatal(err)
		}
		above = id
	}
	mustPush(t, store, s.bucket(t, ""))
	copied := record.OpenStore(t.TempDir())
	got := mustPull(t, copied, s.bucket(t, ""), bucket.Selection{Tapes: []string{"parent"}})
	if want := append([]string{parent}, below...); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	l, err := copied.List()
	if err != nil {
		t.Fatal(err)
	}
	if got := record.NestingOf(l.Tapes).Below(parent); len(got) != 2 {
		t.Errorf("%d tapes are nested in it", len(got))
	}
}

// Twenty pulls into one store add each tape once.
func TestPullAtOnce(t *testing.T) {
	s := newServer(t)
	mustPush(t, tapes(t, 10), s.bucket(t, ""))
	store := record.OpenStore(t.TempDir())
	var mu sync.Mutex
	var got []string
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			pulled := mustPull(t, store, s.bucket(t, ""), bucket.Selection{})
			mu.Lock()
			got = append(got, pulled...)
			mu.Unlock()
		})
	}
	all.Wait()
	here, err := store.Tapes()
	if slices.Sort(got); err != nil || len(here) != 10 || !slices.Equal(got, here) {
		t.Errorf("pulled %q, there are %q, %v", got, here, err)
	}
}

// put puts an object into the bucket whose key is that of a text in the portable form.
func (s *server) put(t *testing.T, tape, text string, packed []byte) (key string) {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	key = fmt.Sprintf("v1/coder/2026/11/22/%s-%x.jsonl.zst", tape, sum[:8])
	if _, err := s.backend.PutObject("tapes", key, map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}, bytes.NewReader(packed), int64(len(packed)), nil); err != nil {
		t.Fatal(err)
	}
	return key
}

func pack(t *testing.T, text string, options ...zstd.EOption) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll([]byte(text), nil)
}

// Problems with one object are reported, and the others are pulled.
func TestPullDamaged(t *testing.T) {
	s := newServer(t)
	mustPush(t, tapes(t, 3), s.bucket(t, ""))
	wants := map[string]string{} // by tape
	object := func(want string, make func(head, good string, whole []byte) (text string, packed []byte)) {
		tape := fmt.Sprintf("20261122T110000000-damage%02d", len(wants))
		head := `{"acptap":1,"tape":"` + tape + `","started":"2026-11-22T11:00:00Z"}` + "\n"
		good := head + `{"dir":"c2a","text":"` + strings.Repeat("x", 1000) + `"}` + "\n"
		text, packed := make(head, good, pack(t, good))
		wants[tape] = "s3://tapes/" + s.put(t, tape, text, packed) + ":" + want
	}
	packed := func(want string, damage func(good []byte) []byte) {
		object(want, func(_, good string, whole []byte) (string, []byte) { return good, damage(whole) })
	}
	text := func(want string, change func(head, good string) string) {
		object(want, func(head, good string, _ []byte) (string, []byte) {
			text := change(head, good)
			return text, pack(t, text)
		})
	}
	packed(" it ends too early", func(b []byte) []byte { return b[:len(b)-9] })
	packed(" what is in it is not the portable form", func([]byte) []byte { return nil })
	packed(" it is not packed by zstd", func([]byte) []byte { return []byte("hello") })
	packed(" it is not packed by zstd, or has extra bytes", func(b []byte) []byte { return append(b, "more"...) })
	packed("3: ", func(b []byte) []byte { return append(b, b...) })
	packed(" it cannot be unpacked", func(b []byte) []byte { b[len(b)-20] ^= 1; return b })
	object(" it takes more than 8 MiB", func(_, good string, _ []byte) (string, []byte) { return good, windowed(t, good) })
	object(" what is in it is not what its name says", func(_, good string, _ []byte) (string, []byte) {
		return good, pack(t, strings.Replace(good, `xx"}`, `xy"}`, 1))
	})
	text(" what is in it is not the portable form", func(_, _ string) string { return `[{"direction":"in"}]` })
	text(" what is in it is not the portable form", func(_, _ string) string { return `{"dir":"c2a","frame":{}}` + "\n" })
	text(" it is of the tape", func(_, good string) string { return strings.Replace(good, "damage", "yyyyyy", 1) })
	text(" it is of the tape \"\"", func(_, good string) string { return strings.Replace(good, `"tape":`, `"tags":[],"x":`, 1) })
	text(" a tape that began when it says cannot", func(_, good string) string { return strings.Replace(good, ":00:00Z", ":30:00Z", 1) })
	text(" it unpacks to far more than it has", func(head, _ string) string {
		return head + strings.Repeat(strings.Repeat(" ", 1<<20)+"\n", 80) + "{\"dir\":\"c2a\",\"text\":\"x\"}\n"
	})
	text(" no frames", func(head, _ string) string { return head })
	text("2: ", func(head, _ string) string { return head + "{\n" })
	text("2: ", func(head, _ string) string { return head + "{\"dir\":\"\x1b[2J\"}\n" })
	text("1: ", func(_, good string) string { return strings.Replace(good, `"acptap":1`, `"acptap":99`, 1) })

	store := record.OpenStore(t.TempDir())
	list, err := pull(t.Context(), store, s.bucket(t, ""), bucket.Selection{})
	if err != nil || len(list) != 3+len(wants) {
		t.Errorf("%+v, %v", list, err)
	}
	for _, one := range list {
		switch want, bad := wants[one.Tape]; {
		case !bad && one.Err != nil:
			t.Error(one.Err)
		case bad && (one.Err == nil || !strings.HasPrefix(one.Err.Error(), want)):
			t.Errorf("got %v, want %s", one.Err, want)
		}
	}
	if here, err := store.Tapes(); err != nil || len(here) != 3 {
		t.Errorf("there are %q, %v", here, err)
	}
}

// windowed packs with a window of 16 MiB, regardless of the size of the content.
func windowed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	// with several blocks, or with a declared window of that size
	for _, part := range []string{text, strings.Repeat(" ", 1<<20)} {
		if _, err := enc.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := enc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	enc.Close()
	return b.Bytes()
}

// Where one object of a tape is damaged, an older one of it is taken.
func TestPullOlder(t *testing.T) {
	s, store := newServer(t), tapes(t, 1)
	mustPush(t, store, s.bucket(t, ""))
	const tape = "20261122T100000000-tape00"
	s.put(t, tape, "damaged", []byte("damaged"))
	copied := record.OpenStore(t.TempDir())
	list, err := pull(t.Context(), copied, s.bucket(t, ""), bucket.Selection{})
	if err != nil || len(list) == 0 || list[len(list)-1].Err != nil || exported(t, copied, tape) != exported(t, store, tape) {
		t.Errorf("%+v, %v", list, err)
	}
}

// What stands in a bucket under other names is left alone.
func TestPullOthers(t *testing.T) {
	s := newServer(t)
	for _, key := range []string{
		"v1/coder/2026/11/22/20261122T100000000-abcdef-0123456789abcdef.jsonl",
		"v1/coder/2026/11/23/20261122T100000000-abcdef-0123456789abcdef.jsonl.zst",
		"v1/coder/2026/11/22/20261122T100000000-abcdef-0123456789ABCDEF.jsonl.zst",
		"v1/coder/2099/11/22/20991122T100000000-abcdef-0123456789abcdef.jsonl.zst",
		"v1/../2026/11/22/20261122T100000000-abcdef-0123456789abcdef.jsonl.zst",
		"v1/a b/2026/11/22/20261122T100000000-abcdef-0123456789abcdef.jsonl.zst",
		"v1/coder/2026/11/22/last-1234-0123456789abcdef.jsonl.zst",
		"v2/coder/2026/11/22/20261122T100000000-abcdef-0123456789abcdef.jsonl.zst",
		"table=turns/date=2026-11-22/20261122T100000000-abcdef.parquet",
	} {
		if _, err := s.backend.PutObject("tapes", key, nil, strings.NewReader("x"), 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := pull(t.Context(), record.OpenStore(t.TempDir()), s.bucket(t, ""), bucket.Selection{}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
