//go:build linux

package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// No one waits for the other end of a FIFO, wherever in the store it is: operations on it
// fail, and all others succeed.
func TestFIFO(t *testing.T) {
	const other = "20260102T150405000-aaaaaa"
	for _, name := range []string{
		"acptap.db", "tapes/" + other + ".db", "live/" + other + ".lock", "live/" + other + ".0000000000000000",
	} {
		t.Run(name, func(t *testing.T) {
			store := healthy(t)
			if name == "acptap.db" {
				if err := os.Remove(filepath.Join(store.Dir(), name)); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(filepath.Join(store.Dir(), "live", other+".lock"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			os.Remove(filepath.Join(store.Dir(), name))
			if err := unix.Mkfifo(filepath.Join(store.Dir(), name), 0o600); err != nil {
				t.Fatal(err)
			}
			j := begin(t, store)
			j.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n"))
			j.Exit(0, nil, [wire.Directions]int64{})
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			j.Wait()
			if n := len(lines(t, open(t, store, j.Tape()))); n != 2 {
				t.Errorf("%d lines are on the tape, want 2", n)
			}
			l, err := store.List()
			if err != nil || len(l.Tapes) < 2 {
				t.Errorf("listed: %+v, %v", l, err)
			}
			told := false
			for _, d := range store.Examine(true, nil) {
				told = told || d.Bad
			}
			if !told {
				t.Error("nothing is said of the FIFO")
			}
			err = store.Recover(func() bool { return false }, nil)
			if name != "acptap.db" && !errors.Is(err, record.ErrDamaged) {
				t.Errorf("recovering: %v", err)
			}
			if _, err := store.Delete(j.Tape()); err != nil && name != "acptap.db" {
				t.Error(err)
			}
		})
	}
}
