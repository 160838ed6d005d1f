//go:build linux

package record_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// If both sides have said a lot about themselves, that is not repeated in each block; a
// dissector that continues after a block still knows it.
func TestLargeState(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	const requests = 6000
	rng := rand.New(rand.NewPCG(1, 1))
	id := func() string { return fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()) }
	first := id()
	request := func(id string) {
		j.Append(wire.ClientToAgent, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","method":"test"}`+"\n", id))
	}
	request(first)
	for range requests {
		request(id())
	}
	for range 60 {
		j.Append(wire.AgentToClient, wire.Wire, []byte(strings.Repeat("text ", 20_000)+"\n"))
	}
	j.Append(wire.AgentToClient, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","result":{}}`+"\n", first))
	killed := orphan(t, store)
	finish(t, store, j)
	sealAll(t, killed)
	for _, store := range []*record.Store{store, killed} {
		answered := false
		for f, err := range open(t, store, j.Tape()).Rows(requests) {
			if err != nil {
				t.Fatal(err)
			}
			answered = answered || f.Kind == wire.Response && f.Request == 1
		}
		if !answered {
			t.Error("the answer at the end is that to no request")
		}
		large, blocks := 0, 0
		db, err := bolt.Open(filepath.Join(store.Dir(), "tapes", j.Tape()+".db"), 0o600, &bolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		err = db.View(func(tx *bolt.Tx) error {
			all := tx.Bucket([]byte("blocks"))
			return all.ForEachBucket(func(k []byte) error {
				if blocks++; len(all.Bucket(k).Get([]byte("state"))) > 64<<10 {
					large++
				}
				return nil
			})
		})
		if err != nil || large > 2 || blocks < 5 {
			t.Errorf("%d large states in %d blocks, want 2: %v", large, blocks, err)
		}
		db.Close()
	}
}
