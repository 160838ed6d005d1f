package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// The example agent and client of github.com/coder/acp-go-sdk, as they come with
// it: the same bytes stand on both sides of the proxy between them, and on the
// tape, and come from the tape again.
func TestRealPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("the example agent takes five seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	build := func(name string) string {
		path := filepath.Join(dir, name)
		out, err := exec.Command("go", "build", "-o", path, "github.com/coder/acp-go-sdk/example/"+name).CombinedOutput()
		if err != nil {
			t.Fatalf("building the example %s: %v\n%s", name, err, out)
		}
		return path
	}
	agent, client := build("agent"), build("client")
	tee := filepath.Join(dir, "tee.sh")
	script := "#!/bin/sh\ndir=$1\nshift\ntee \"$dir/c2a\" | \"$@\" | tee \"$dir/a2c\"\n"
	if err := os.WriteFile(tee, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("tee"); err != nil {
		t.Skip("no tee to compare with")
	}
	store := filepath.Join(dir, "store")
	run := func(command ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, client, command...)
		cmd.Stdin = strings.NewReader("1\n")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
		return string(out)
	}
	outer, inner := filepath.Join(dir, "outer"), filepath.Join(dir, "inner")
	for _, d := range []string{outer, inner} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	through := run(tee, outer, "acptap", "proxy", "--store", store, "--", tee, inner, agent)
	if !strings.Contains(through, "Agent completed") {
		t.Errorf("the client prints\n%s", through)
	}
	awaitTape(t, store)
	for _, name := range []string{"c2a", "a2c"} {
		got, want := read(t, filepath.Join(outer, name)), read(t, filepath.Join(inner, name))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the client's side has\n%s\nthe agent's side\n%s", name, got, want)
		}
		if tape := onTape(t, store, name); !bytes.Equal(tape, want) {
			t.Errorf("%s: the tape has\n%s\nthe agent's side\n%s", name, tape, want)
		}
	}

	// The agent from the tape is as good as the real one.
	replayed := filepath.Join(dir, "replayed")
	if err := os.Mkdir(replayed, 0o700); err != nil {
		t.Fatal(err)
	}
	run(tee, replayed, "acptap", "replay", "agent", "--store", store, "last")
	for _, name := range []string{"c2a", "a2c"} {
		got, want := read(t, filepath.Join(replayed, name)), read(t, filepath.Join(inner, name))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: replayed, there is\n%s\nwant\n%s", name, got, want)
		}
	}
}

// awaitTape waits until the only tape in a store has ended. What its proxy had no
// time to seal is in the journal.
func awaitTape(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		l, err := record.OpenStore(dir).List()
		if err == nil && len(l.Tapes) == 1 && l.Tapes[0].Exit != nil && !l.Tapes[0].Live {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the tape has not ended: %+v, %v", l, err)
		}
	}
}

// onTape returns the bytes of a direction of the only tape in a store.
func onTape(t *testing.T, dir, name string) []byte {
	t.Helper()
	store := record.OpenStore(dir)
	ids, err := store.Tapes()
	if err != nil || len(ids) != 1 {
		t.Fatalf("tapes %v, %v", ids, err)
	}
	var want wire.Direction
	if err := want.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, store, ids[0], want)
}

// bytesOf returns the bytes of a direction of a tape.
func bytesOf(t *testing.T, store *record.Store, id string, dir wire.Direction) (b []byte) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Dir == dir && f.Kind != wire.Mark {
			b = append(append(b, f.Raw...), f.End.Bytes()...)
		}
	}
	return b
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
