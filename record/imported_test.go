package record_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// Imported tapes stay distinguishable from recorded ones, even after the catalogue is
// rebuilt, or after another export and import. They do not affect recorded sessions.
func TestImported(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	journal := recordtest.Record(t, store, record.Start{Name: "agent", Command: []string{"agent"}, Proto: "acp"})
	turn := func(prompt string) []string {
		return []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + prompt + `"}]}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`,
		}
	}
	for i, line := range turn("mine") {
		if err := journal.Append(wire.Direction(i%2), wire.Wire, []byte(line+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	journal.Wait()
	file := `{"acptap":1,"protocol":"acp","name":"agent"}` + "\n"
	for i, line := range turn("theirs") {
		file += `{"dir":"` + wire.Direction(i%2).String() + `","frame":` + line + "}\n"
	}
	foreign, err := store.Import(strings.NewReader(file), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := store.Open(foreign)
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Import(strings.NewReader(exported(t, tape, true)), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"imported", "rebuilt"} {
		l, err := store.List()
		if err != nil || len(l.Tapes) != 3 {
			t.Fatalf("%s: %d tapes, %v", when, len(l.Tapes), err)
		}
		for _, info := range l.Tapes {
			if want := info.Tape == foreign || info.Tape == again; info.Imported != want {
				t.Errorf("%s: tape %s: imported is %t, want %t", when, info.Tape, info.Imported, want)
			}
		}
		if l, err = store.ListRecorded(); err != nil || len(l.Tapes) != 1 || len(l.Sessions) != 1 || len(l.Sessions[0].Runs) != 1 || l.Sessions[0].Prompt != "mine" {
			t.Errorf("%s: of what was recorded, there is %+v, %v", when, l, err)
		}
		if err := store.Rebuild(nil); err != nil {
			t.Fatal(err)
		}
	}
}
