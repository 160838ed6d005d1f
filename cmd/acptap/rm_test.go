package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// A session that is being recorded is not deleted, nor its other tapes.
func TestRmLiveSession(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	const frame = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}` + "\n"
	for i := range 2 {
		j := recordtest.Record(t, store, record.Start{Name: "agent", Proto: "acp"})
		if err := j.Append(wire.ClientToAgent, wire.Wire, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		end := func() {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			j.Wait()
		}
		if i == 0 {
			end()
		} else {
			defer end()
		}
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"--store", store.Dir(), "rm", "s1"}, nil, &out, &complaints); code != 2 {
		t.Errorf("got status %d, want 2: %s", code, out.String())
	}
	if got, want := complaints.String(), "still being recorded"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	ids, err := store.Tapes()
	if err != nil || len(ids) != 2 {
		t.Errorf("got the tapes %v, %v; want both", ids, err)
	}
}

// The id of a session is not taken for a part of the id of a tape that has it by chance.
func TestRmSessionNamedAsTape(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	for _, line := range []string{
		`{"acptap":1,"protocol":"acp","tape":"20260102T030405000-aas1aa"}` + "\n" + `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"other","prompt":[]}}}`,
		`{"acptap":1,"protocol":"acp","tape":"20260102T030406000-bbbbbb"}` + "\n" + `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}}`,
	} {
		if _, err := store.Import(strings.NewReader(line+"\n"), "file", nil); err != nil {
			t.Fatal(err)
		}
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"--store", store.Dir(), "rm", "s1"}, nil, &out, &complaints); code != 0 {
		t.Errorf("got status %d: %s", code, &complaints)
	}
	if ids, err := store.Tapes(); err != nil || len(ids) != 1 || ids[0] != "20260102T030405000-aas1aa" {
		t.Errorf("got the tapes %v, %v; want that of the other session", ids, err)
	}
}

// A tape is not deleted while a server of its agent is recorded.
func TestRmLiveServer(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	agent := recordtest.Record(t, store, record.Start{Name: "agent"})
	agent.Append(wire.AgentStderr, wire.Wire, []byte("ready\n")) // last is no empty tape
	server := recordtest.Record(t, store, record.Start{Parent: record.Parent{Tape: agent.Tape(), Server: "files"}})
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	agent.Wait()
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"--store", store.Dir(), "rm", "last"}, nil, &out, &complaints); code != 2 {
		t.Errorf("got status %d, want 2: %s", code, out.String())
	}
	if got, want := complaints.String(), "tape "+server.Tape()+", of a server that was started on tape "+agent.Tape()+": still being recorded"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if code := run(t.Context(), []string{"--store", store.Dir(), "prune", "--yes", "--older-than", "0s"}, nil, &out, &complaints); code != 0 {
		t.Errorf("prune: got status %d: %s", code, complaints.String())
	}
	if ids, err := store.Tapes(); err != nil || len(ids) != 2 {
		t.Errorf("got the tapes %v, %v; want both", ids, err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	server.Wait()
	if code := run(t.Context(), []string{"--store", store.Dir(), "rm", "last"}, nil, &out, &complaints); code != 0 {
		t.Errorf("got status %d: %s", code, complaints.String())
	}
	if ids, err := store.Tapes(); err != nil || len(ids) != 0 {
		t.Errorf("got the tapes %v, %v; want none", ids, err)
	}
}
