package record_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/acptap/acptap/record"
)

// All who ask for a store's key get the same one; another store has another.
func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var keys [8][]byte
	var asking sync.WaitGroup
	for i := range keys {
		asking.Go(func() {
			key, err := record.OpenStore(dir).Key()
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	asking.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, 32)) {
			t.Fatalf("got the keys %x", keys)
		}
	}
	if other, err := record.OpenStore(t.TempDir()).Key(); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("another store: got %x, %v", other, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "key")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file of the key: %v, %v", info.Mode(), err)
	}
}

// A key of which only a part was written, as where the machine stopped, is made anew.
func TestTornKey(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o700)
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err := record.OpenStore(dir).Key()
	if err != nil {
		t.Fatal(err)
	}
	if two, err := record.OpenStore(dir).Key(); err != nil || !bytes.Equal(one, two) {
		t.Errorf("got %x, %v, then %x", one, err, two)
	}
}
