//go:build linux

package record_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record"
)

// factsOf returns the facts of a tape and its sessions.
func factsOf(t testing.TB, store *record.Store, id string) (record.Info, []record.SessionInfo) {
	t.Helper()
	tape := open(t, store, id)
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := tape.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	return info, sessions
}

// oddTape imports a tape with all that counting can stumble over.
func oddTape(t testing.TB) (store *record.Store, id string) {
	t.Helper()
	text := `{"acptap":1,"started":"2025-01-02T03:04:05Z","command":["agent","--x"],"cwd":"/w","name":"odd"}
{"seq":3,"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"editor","version":"1"}}}}
{"seq":4,"at":1.5,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"agent","title":"The Agent","version":"2"}}}}
{"seq":9,"at":2,"dir":"c2a","frame":[{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w/p","mcpServers":[]}},{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"s2","cwd":"/w/q","mcpServers":[]}}]}
{"at":2.5,"dir":"a2c","origin":"withheld","frame":{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s0"}}}
{"dir":"a2c","origin":"rewritten","frame":{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"no such session"}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"first line\nsecond"}]}}}
{"dir":"a2c","text":"LONG"}
{"dir":"err","text":"banner","end":"crlf"}
{"dir":"a2c","gap":77}
{"dir":"a2c","damage":5}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":"a title"}}}}
{"dir":"a2c","text":"no JSON","end":"none"}
{"at":9,"dir":"a2c","frame":{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}}
{"at":11,"dir":"c2a","eof":true}
`
	long := strings.Repeat("x", 3<<20)
	text = strings.Replace(text, "LONG", `{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"text\":\"`+long+`\"}}`, 1)
	store = record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(text), "odd", nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, id
}

// Facts that are missing or damaged are counted from the blocks, and Rebuild stores
// them again.
func TestLostFacts(t *testing.T) {
	sealed, plain, _, _ := sealedTape(t, 3500) // two blocks
	odd, oddID := oddTape(t)
	partly, partlyID := partlySealed(t)
	spoil := func(bucket, key string, value []byte) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucket))
			if key == "" {
				k, _ := b.Cursor().First()
				key = string(k)
			}
			if value == nil {
				return b.Delete([]byte(key))
			}
			return b.Put([]byte(key), value)
		}
	}
	for _, from := range []struct {
		name  string
		store *record.Store
		id    string
	}{{"sealed", sealed, plain}, {"imported", odd, oddID}, {"partly sealed", partly, partlyID}} {
		for _, tt := range []struct {
			name  string
			spoil func(tx *bolt.Tx) error
		}{
			{"no facts", spoil("tape", "info", nil)},
			{"facts that are none", spoil("tape", "info", []byte("\x01none"))},
			{"facts of a session that are none", spoil("sessions", "", []byte("\x01\xa1"))},
			{"facts of an earlier writer", func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte("tape"))
				return b.Put([]byte("info"), record.WithTags(t, b.Get([]byte("info")), map[uint64]any{1: uint64(30), 36: "of yore"}))
			}},
		} {
			t.Run(from.name+", "+tt.name, func(t *testing.T) {
				wantInfo, wantSessions := factsOf(t, from.store, from.id)
				store := orphan(t, from.store)
				edit(t, filepath.Join(store.Dir(), "tapes", from.id+".db"), tt.spoil)
				check := func(when string) {
					t.Helper()
					info, sessions := factsOf(t, store, from.id)
					if diff := cmp.Diff(wantInfo, info) + cmp.Diff(wantSessions, sessions, cmpopts.IgnoreUnexported(record.SessionInfo{})); diff != "" {
						t.Errorf("%s: want, and got:\n%s", when, diff)
					}
				}
				if tt.name != "facts of an earlier writer" { // who lists a store does not count for it
					check("counted")
				}
				told := func() (n int) {
					for _, d := range store.Examine(true, nil) {
						if d.Bad && strings.Contains(d.Advice, "--rebuild stores them") {
							n++
						}
					}
					return n
				}
				if n := told(); n != 1 && tt.name != "facts of an earlier writer" {
					t.Errorf("the doctor tells it %d times, want once", n)
				}
				if err := store.Rebuild(nil); err != nil {
					t.Fatal(err)
				}
				if n := told(); n > 0 {
					t.Errorf("the doctor tells it after Rebuild")
				}
				check("rebuilt")
				sealAll(t, store)
				wantInfo.Complete = true
				check("sealed")
			})
		}
	}
}

// Sealing, indexing and mending keep the facts that only a newer acptap knows.
func TestUnknownTagsStay(t *testing.T) {
	store, id := partlySealed(t)
	const tag, said = 4711, "of a newer acptap"
	mark := func(b *bolt.Bucket, key []byte) error {
		return b.Put(key, record.WithTags(t, bytes.Clone(b.Get(key)), map[uint64]any{1: uint64(tag + 1), tag: said}))
	}
	file := filepath.Join(store.Dir(), "tapes", id+".db")
	edit(t, file, func(tx *bolt.Tx) error {
		if err := mark(tx.Bucket([]byte("tape")), []byte("info")); err != nil {
			return err
		}
		sessions := tx.Bucket([]byte("sessions"))
		key, _ := sessions.Cursor().First()
		return mark(sessions, key)
	})
	check := func(when, path string, buckets ...string) {
		t.Helper()
		edit(t, path, func(tx *bolt.Tx) error {
			for _, name := range buckets {
				b := tx.Bucket([]byte(name))
				key, value := b.Cursor().First()
				if name == "tape" {
					key, value = []byte("info"), b.Get([]byte("info"))
				}
				tags := record.TagsOf(t, value)
				if tags[tag] != said {
					t.Errorf("%s, %s, %s: got %v", when, name, key, tags)
				}
				if tags[1] == uint64(tag+1) && !strings.HasSuffix(when, "as it was") {
					t.Errorf("%s, %s: it is not told that the facts behind are old", when, name)
				}
			}
			return nil
		})
	}
	check("the tape as it was", file, "tape", "sessions")
	sealAll(t, store)
	check("the tape, sealed", file, "tape", "sessions")
	check("the catalogue", filepath.Join(store.Dir(), "acptap.db"), "tapes", "sessions")
	edit(t, file, func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("tape"))
		return b.Put([]byte("info"), record.WithTags(t, b.Get([]byte("info")), map[uint64]any{1: uint64(3)}))
	})
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	check("the tape, mended", file, "tape", "sessions")
	check("the catalogue, rebuilt", filepath.Join(store.Dir(), "acptap.db"), "tapes", "sessions")
}
