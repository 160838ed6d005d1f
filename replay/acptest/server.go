package acptest

import (
	"errors"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/front"
)

// Server plays the ACP agent or MCP server of the tape at path, in the portable form, over
// HTTP, and returns its URL. With the scheme ws instead of http it is the URL of a
// WebSocket. Any number of clients may connect, one after the other or at once; for each,
// the tape is played from its beginning. Nothing is recorded.
//
// When the test ends, the server ends. It is then an error of the test if a client has left
// the tape, if messages of the recorded client are missing, or if no client connected.
func Server(t testing.TB, path string, set ...func(*replay.Agent)) (address string) {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := replay.Agent{Tapes: []*record.Tape{tape}}
	for _, set := range set {
		set(&a)
	}
	f, err := front.New(a)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	address, end := serve(t, path, f)
	t.Cleanup(func() {
		t.Helper()
		for _, r := range end() {
			switch text := reportText(r.Report); {
			case errors.Is(r.Err, replay.ErrDiverged):
				t.Errorf("%s: %v\n%s", path, r.Err, text)
			case r.Err != nil:
				t.Errorf("%s: %v", path, r.Err)
			case text != "":
				t.Logf("%s:\n%s", path, text)
			}
		}
	})
	return address
}
