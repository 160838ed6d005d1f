//go:build linux

package record_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

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
