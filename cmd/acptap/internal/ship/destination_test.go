package ship_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/record/disk"
)

// TestDestinationUpdate: another process reads what was written, and the file contains
// nothing of the address.
func TestDestinationUpdate(t *testing.T) {
	store := t.TempDir()
	const address = "http://user:swordfish@127.0.0.1:4318/v1/traces"
	d := ship.To(store, address)
	if h, cursors, err := d.Read(); err != nil || h != (ship.Head{}) || len(cursors) > 0 {
		t.Errorf("of a new one: got %v, %v, %v", h, cursors, err)
	}
	if list, err := ship.Destinations(store); err != nil || len(list) > 0 {
		t.Errorf("of a new store: got %v, %v", list, err)
	}
	from := time.Unix(1_800_000_000, 0).UTC()
	update(t, d, func(u *ship.Update) {
		u.Head.Name, u.Head.From = "http://127.0.0.1:4318/v1/traces", from
		u.Put("a", ship.Cursor{Seq: 7})
		u.Put("b", ship.Cursor{Seq: 1})
	})
	update(t, d, func(u *ship.Update) {
		u.Head.Pruned++
		u.Put("a", ship.Cursor{Seq: 9, Done: true, Turns: 2, Refused: 3})
		u.Forget("b")
		u.Forget("c")
	})
	list, err := ship.Destinations(store)
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, %v", list, err)
	}
	head, cursors, err := list[0].Read()
	if want := (ship.Head{Name: "http://127.0.0.1:4318/v1/traces", From: from, Pruned: 1}); err != nil || head != want {
		t.Errorf("got %+v, %v\nwant %+v", head, err, want)
	}
	if want := (map[string]ship.Cursor{"a": {Seq: 9, Done: true, Turns: 2, Refused: 3}}); !maps.Equal(cursors, want) {
		t.Errorf("got %v, want %v", cursors, want)
	}
	if _, cursors, err := ship.To(store, "http://127.0.0.1:4319").Read(); err != nil || len(cursors) > 0 {
		t.Errorf("of another address: got %v, %v", cursors, err)
	}
}

func update(t *testing.T, d *ship.Destination, change func(*ship.Update)) {
	t.Helper()
	if err := d.Update(change); err != nil {
		t.Fatal(err)
	}
}

// TestDestinationGone: a store that was deleted is not made again.
func TestDestinationGone(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if err := ship.To(store, "a").Update(func(*ship.Update) {}); err == nil {
		t.Error("it was written")
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("it was made")
	}
}

// TestDestinationLock: one delivers, and another one once that has ended.
func TestDestinationLock(t *testing.T) {
	store := t.TempDir()
	one, other := ship.To(store, "a"), ship.To(store, "a")
	if ok, err := ship.To(store, "b").Lock(); !ok || err != nil {
		t.Errorf("of another address: got %v, %v", ok, err)
	}
	if one.Locked() {
		t.Error("locked before anybody has")
	}
	for range 2 {
		if ok, err := one.Lock(); !ok || err != nil {
			t.Fatalf("got %v, %v", ok, err)
		}
		if ok, err := other.Lock(); ok || err != nil {
			t.Errorf("the other one: got %v, %v", ok, err)
		}
		if !other.Locked() {
			t.Error("the other one does not see it")
		}
		if got := other.Holder(); got != os.Getpid() && runtime.GOOS != "windows" {
			t.Errorf("process %d holds it, want %d", got, os.Getpid())
		}
		if err := one.Unlock(); err != nil {
			t.Fatal(err)
		}
		one, other = other, one
	}
}

// TestDestinationDamaged: an unreadable file is reported, and kept.
func TestDestinationDamaged(t *testing.T) {
	store := t.TempDir()
	d := ship.To(store, "a")
	update(t, d, func(u *ship.Update) { u.Put("a", ship.Cursor{Seq: 1}) })
	files, err := filepath.Glob(filepath.Join(store, "ship", "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Read(); !errors.Is(err, disk.ErrDamaged) {
		t.Errorf("reading: got %v", err)
	}
	if err := d.Update(func(*ship.Update) {}); !errors.Is(err, disk.ErrDamaged) {
		t.Errorf("writing: got %v", err)
	}
}
