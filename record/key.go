package record

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/redact"
)

// keySize is how many random bytes a store's key has.
const keySize = 32

// Key returns the store's own key for fingerprints of secrets. The first one who asks
// makes it, and the store with it.
func (s *Store) Key() (redact.Key, error) {
	key, err := s.readKey()
	if err == nil {
		return key, nil
	}
	if err := s.make(); err != nil {
		return nil, err
	}
	f, err := disk.OpenLocked(s.keyFile(), os.O_RDWR|os.O_CREATE, false, s.timeout)
	if err != nil {
		return nil, fmt.Errorf("the store's key: %w", err)
	}
	defer f.Close()
	if key, err := s.readKey(); err == nil { // made while this waited for the lock
		return key, nil
	}
	key = make(redact.Key, keySize)
	rand.Read(key)
	if _, err := f.WriteAt(key, 0); err != nil {
		return nil, fmt.Errorf("the store's key: %w", err)
	}
	return key, disk.SyncData(f)
}

func (s *Store) keyFile() string { return filepath.Join(s.dir, "key") }

// readKey returns the key if there is one.
func (s *Store) readKey() (redact.Key, error) {
	f, err := disk.Open(s.keyFile(), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key := make(redact.Key, keySize)
	_, err = io.ReadFull(f, key)
	return key, err
}

// Key returns the key of the tape's store, for what is exported of a tape with streams.
// It is empty for all other tapes, and where the store cannot have one.
func (t *Tape) Key() redact.Key {
	info, err := t.Info()
	if err != nil || info.Streams == 0 || t.store == nil {
		return nil
	}
	key, _ := t.store.Key()
	return key
}
