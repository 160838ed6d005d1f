//go:build linux

package record_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// unpack returns the store in a .tar.gz.
func unpack(t *testing.T, path string) *record.Store {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return record.OpenStore(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(to, 0o700)
		} else if text, failed := io.ReadAll(r); failed == nil {
			err = os.WriteFile(to, text, 0o600)
		} else {
			err = failed
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The store of an earlier acptap, with a tape that has ended and one of a proxy
// that was killed behind its first block, is read and sealed as its own.
func TestOlderStore(t *testing.T) {
	store := unpack(t, "testdata/store-1.tar.gz")
	check := func(when string) {
		t.Helper()
		l, err := store.List()
		if err != nil || len(l.Tapes) != 2 || len(l.Sessions) == 0 || len(l.Broken) > 0 {
			t.Errorf("%s: listed %d tapes, %d sessions, broken %v: %v", when, len(l.Tapes), len(l.Sessions), l.Broken, err)
		}
		for i, want := range []int{123, 122} {
			answers := 0
			all := lines(t, open(t, store, l.Tapes[i].Tape))
			for _, f := range all {
				if f.kind == wire.Response && f.method == "session/prompt" && f.answers > 0 {
					answers++
				}
			}
			if len(all) != want || answers != 40 {
				t.Errorf("%s: tape %d has %d lines and %d answers, want %d and 40", when, i, len(all), answers, want)
			}
		}
	}
	check("as it was")
	sealAll(t, store)
	check("sealed")
}

// The facts in a store of a version that wrote them one behind the other are read
// as they were, whoever writes them since.
func TestPositionalStore(t *testing.T) {
	store := unpack(t, "testdata/store-2.tar.gz")
	check := func(when string, complete int) {
		t.Helper()
		l, err := store.List()
		if err != nil || len(l.Tapes) != 3 || len(l.Sessions) != 3 || len(l.Broken) > 0 {
			t.Fatalf("%s: %+v, %v", when, l, err)
		}
		var got []string
		for _, i := range l.Tapes {
			exit := "none"
			if i.Exit != nil {
				exit = fmt.Sprint(i.Exit.Code, i.Exit.Signal, i.Exit.Delivered)
			}
			got = append(got, strings.TrimSpace(fmt.Sprint(i.Tape, i.Start.Command, i.Start.Cwd, " ", i.Start.Name, " ", i.Start.Version, " ", i.Start.Proto, i.Start.PID,
				i.Start.Time.UTC().Format(" 15:04:05.000 "), i.Frames, i.Lines, i.Bytes, i.Failed, i.Failures, i.Sessions, i.Turns, i.Last, i.Imported, " ", exit,
				" ", i.Connection.Version, " ", i.Connection.Client, i.Connection.ClientVersion, " ", i.Connection.AgentTitle, i.Connection.AgentVersion)))
			if i.Complete {
				complete--
			}
		}
		for _, s := range l.Sessions {
			got = append(got, fmt.Sprint(s.Agent, " ", s.ID, " ", s.Title, ", ", s.Prompt, " ", s.Cwd, " ", s.Dialect, s.Closed, s.Runs[0].Tape, " ", s.Runs[0].First, s.Runs[0].Last, s.Runs[0].Turns, s.Runs[0].Failures,
				s.Began().UTC().Format(" 15:04:05.000"), s.Updated().UTC().Format(" 15:04:05.000")))
		}
		if want := strings.Split(strings.TrimSpace(positional), "\n"); !slices.Equal(got, want) || complete != 0 {
			t.Errorf("%s: got\n%s\nwant\n%s, and %d more of them complete", when, strings.Join(got, "\n"), positional, complete)
		}
	}
	check("as it was", 2)
	sealAll(t, store)
	check("sealed", 3)
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	check("rebuilt", 3)
}

// What happens at the marks of a tape whose writer did not note it is known without
// their bytes too.
func TestMarksOfOlderStore(t *testing.T) {
	store := unpack(t, "testdata/store-2.tar.gz")
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	ended, failed := 0, 0
	for _, i := range l.Tapes {
		for f, err := range open(t, store, i.Tape).Rows(1) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Raw != nil && i.Complete {
				t.Errorf("frame %d of %s has bytes", f.Seq, i.Tape)
			}
			if f.Events.Has(dialect.AgentEnded) {
				ended++
			}
			if f.Failure() != dialect.NoFailure {
				failed++
			}
		}
	}
	if ended != 1 || failed != 1 {
		t.Errorf("%d agents ended and %d frames failed, want 1 and an error", ended, failed)
	}
}

// positional is what store-2.tar.gz told its own version.
const positional = `
20260102T150405000-7k2m9p[agent]/w   acp0 15:04:05.000 3 4 204 1 1 1 0 2s true none
20261122T094007145-99zv71[agent --acp]/w/project mine v0.4.0 acp4242 09:40:07.145 125 128 1934505 0 0 1 40 7.523ms false 0terminated[1000 2000 30] 1 editor1.2 The Agent0.9
20261122T094007174-dwqfy9[agent --acp]/w/project mine v0.4.0 acp4242 09:40:07.174 125 127 1934505 0 0 1 40 10.832ms false none 1 editor1.2 The Agent0.9
agent-d4f0bc5a sess_2 ,  /w  false20260102T150405000-7k2m9p 1 2 0 0 15:04:05.500 15:04:05.500
mine sess_1 Mending the parser, go on 0 /w/project v1 false20261122T094007145-99zv71 3 125 40 0 09:40:07.147 09:40:07.153
mine sess_1 Mending the parser, go on 0 /w/project v1 false20261122T094007174-dwqfy9 3 125 40 0 09:40:07.175 09:40:07.185
`
