package record_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A tape is recorded as it comes, in pieces of any size, and read back as frames.
func Example() {
	dir, err := os.MkdirTemp("", "store-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := record.OpenStore(dir)

	recorder, err := store.Record(record.Start{Command: []string{"agent", "--acp"}})
	if err != nil {
		log.Fatal(err)
	}
	recorder.Append(wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"meth`))
	recorder.Append(wire.ClientToAgent, wire.Wire, []byte(`od":"initialize","params":{"protocolVersion":1}}`+"\n"))
	recorder.Append(wire.AgentStderr, wire.Wire, []byte("ready\n"))
	recorder.Append(wire.AgentToClient, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`+"\n"))
	recorder.Exit(0, nil, [wire.Directions]int64{})
	if err := recorder.Close(); err != nil {
		log.Fatal(err)
	}
	recorder.Wait() // otherwise work in the background may create files in the directory

	tape, err := store.Open(recorder.Tape())
	if err != nil {
		log.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			log.Print(err) // a part cannot be read, and the next frames follow
			continue
		}
		fmt.Printf("%d %v %-12v %d bytes\n", f.Seq, f.Dir, f.Kind, f.Size)
	}
	// Output:
	// 1 c2a request      77 bytes
	// 2 err stderr       5 bytes
	// 3 a2c response     55 bytes
	// 4 a2c mark         19 bytes
}

// What happens in a store is followed while it happens.
func ExampleStore_Watch() {
	dir, err := os.MkdirTemp("", "store-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := record.OpenStore(dir)
	recorder, err := store.Record(record.Start{Command: []string{"agent"}})
	if err != nil {
		log.Fatal(err)
	}
	recorder.Append(wire.AgentStderr, wire.Wire, []byte("ready\n"))

	allFrames := func(tape string, live bool) (from uint64, ok bool) { return 1, true }
	looks := 0
	for change, err := range store.Watch(context.Background(), allFrames) {
		if err != nil {
			log.Print(err) // the store, or a part of a tape, cannot be read
			continue
		}
		switch change.Kind {
		case record.TapeAppeared:
			fmt.Println("a tape, live:", change.Live)
		case record.FrameRecorded:
			fmt.Printf("frame %d: %s\n", change.Frame.Seq, change.Frame.Raw)
		case record.StoreLooked:
			if looks++; looks == 1 {
				recorder.Append(wire.AgentStderr, wire.Wire, []byte("done\n"))
				recorder.Close()
				recorder.Wait()
			}
		}
		if change.Kind == record.TapeEnded {
			break
		}
	}
	// Output:
	// a tape, live: true
	// frame 1: ready
	// frame 2: done
}

// A file in the portable form is read without a store.
func ExampleReadPortable() {
	tape, err := record.ReadPortable(strings.NewReader(`{"acptap":1,"command":["agent"]}
{"at":0.1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"_login","params":{"apiKey":"abc"}}}
`), "login.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	if err := tape.Export(os.Stdout, false); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"acptap":1,"command":["agent"]}
	// {"seq":1,"at":0.1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"_login","params":{"apiKey":"[redacted]"}}}
}
