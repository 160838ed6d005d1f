package record

import (
	"fmt"
	"os"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/tapeid"
)

// BenchmarkCatalogue lists stores of as many tapes, each with one session, all of
// which the catalogue knows.
func BenchmarkCatalogue(b *testing.B) {
	for _, n := range []int{200, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, err := os.MkdirTemp("/dev/shm", "acptap-bench-") // the disk is not what is measured
			if err != nil {
				b.Skip(err)
			}
			b.Cleanup(func() { os.RemoveAll(dir) })
			store := OpenStore(dir)
			if err := store.make(); err != nil {
				b.Fatal(err)
			}
			err = store.catalogue().Create(func(tx *bolt.Tx) error {
				for i := range n {
					info, session := someFacts(i)
					if err := os.WriteFile(store.tapeFile(info.Tape).Path, nil, 0o600); err != nil {
						return err
					}
					if err := put(tx, bucketTapes, []byte(info.Tape), encodeTags(&info, nil)); err != nil {
						return err
					}
					if err := put(tx, bucketSessions, []byte(session.key()), encodeTags(&session, nil)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				l, err := store.List()
				if err != nil || len(l.Tapes) != n || len(l.Sessions) != n || len(l.Broken) > 0 {
					b.Fatal(len(l.Tapes), len(l.Sessions), len(l.Broken), err)
				}
			}
		})
	}
}

// someFacts returns the facts of the i-th tape of a store, and of its session.
func someFacts(i int) (Info, SessionInfo) {
	began := time.Unix(1_700_000_000+int64(i)*60, 0)
	info := Info{
		Tape:   tapeid.New(began),
		Start:  Start{Time: began, Command: []string{"npx", "-y", "@agent/agent-acp", "--acp"}, Cwd: "/home/user/project", Name: "agent", Version: "v0.4.0", PID: 10_000 + i},
		Frames: 900, Lines: 1000, Bytes: 400_000, Failed: 1, Sessions: 1, Turns: 7, First: time.Millisecond, Last: 10 * time.Minute, Ended: began.Add(10 * time.Minute),
		Exit:       &wire.Exit{Delivered: [wire.Directions]int64{100_000, 300_000, 1000}},
		Connection: dialect.Connection{Protocol: dialect.ACP, Dialect: 1, Version: "1", Client: "editor", ClientTitle: "Editor", ClientVersion: "1.2.3", Agent: "@agent/agent-acp", AgentVersion: "0.16.1", AgentTitle: "Agent"},
		Complete:   true,
	}
	session := SessionInfo{
		ID: fmt.Sprintf("0fd1c0de-8f0e-4b6d-9c0e-%012x", i), Agent: "agent", Title: "Mending what broke", Prompt: "Please find out why the test fails", Cwd: "/home/user/project",
		Dialect: 1, made: true, opened: true,
		Runs: []Run{{Tape: info.Tape, First: 3, Last: 998, Frames: 890, Failed: 1, Failures: 2, Turns: 7, Cost: dialect.Cost{Amount: 0.0123, Currency: "USD"}, Began: began, Ended: info.Ended}},
	}
	return info, session
}
