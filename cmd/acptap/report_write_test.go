package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// A page that is followed shows what is recorded meanwhile, including on servers' tapes, and
// is updated until all tapes have ended.
func TestReportFollows(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := record.OpenStore(dir)
		agent := recordTape(t, store, record.Start{Proto: "mcp"})
		agent.call("one")
		w := followPage(t, dir, agent.Tape())
		ended := make(chan error)
		go func() { ended <- w.follow(t.Context()) }()

		w.has(`data-live="2000"`, ">one<")
		agent.call("two")
		time.Sleep(time.Second)
		w.has(">one<")
		time.Sleep(1100 * time.Millisecond)
		w.has(`data-live="`, ">one<", ">two<")

		server := recordTape(t, store, record.Start{Proto: "mcp", Parent: record.Parent{Tape: agent.Tape(), Server: "files"}})
		server.call("three")
		time.Sleep(2100 * time.Millisecond)
		w.has(`data-live="`, "files")

		agent.call("four")
		agent.end()
		time.Sleep(5 * time.Second)
		w.has(`data-live="`, ">four<")
		server.end()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if w.has(">four<"); strings.Contains(w.page(), "data-live") {
			t.Error("the last page is read again")
		}
	})
}

// Nothing is written while nothing is recorded, and an interrupt leaves a page that stays.
func TestReportFollowsUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := record.OpenStore(dir)
		agent := recordTape(t, store, record.Start{Proto: "mcp"})
		defer agent.end()
		agent.call("one")
		w := followPage(t, dir, agent.Tape())
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.follow(ctx) }()
		before, err := os.Stat(w.path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if after, err := os.Stat(w.path); err != nil || !os.SameFile(before, after) {
			t.Errorf("the page was written again, though nothing has happened: %v", err)
		}
		agent.call("two")
		interrupt()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if w.has(">one<", ">two<"); strings.Contains(w.page(), "data-live") {
			t.Error("the last page is read again")
		}
	})
}

// A followed page is one that a test looks at.
type followedPage struct {
	*pageWriter
	t *testing.T
}

// followPage writes the page of a tape for the first time.
func followPage(t *testing.T, dir, tape string) followedPage {
	t.Helper()
	sub, err := ref.Resolve(dir, tape, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &pageWriter{
		reporting: &reporting{follow: true, limit: 16}, subjects: []ref.Subject{sub}, names: []string{"last"},
		path: filepath.Join(t.TempDir(), "page.html"), stdout: io.Discard, stderr: io.Discard,
	}
	if err := w.first(t.Context()); err != nil {
		t.Fatal(err)
	}
	return followedPage{w, t}
}

func (p followedPage) page() string {
	p.t.Helper()
	page, err := os.ReadFile(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(page)
}

// has reports texts that are missing from the page.
func (p followedPage) has(texts ...string) {
	p.t.Helper()
	synctest.Wait()
	page := p.page()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.t.Errorf("the page does not have %s", text)
		}
	}
}

// A recordedTape is one that a test records.
type recordedTape struct {
	*record.Recorder
	t *testing.T
}

func recordTape(t *testing.T, store *record.Store, start record.Start) recordedTape {
	t.Helper()
	r := recordtest.Record(t, store, start)
	return recordedTape{r, t}
}

// call records a call of a method.
func (r recordedTape) call(method string) {
	r.t.Helper()
	for dir, frame := range []string{`{"jsonrpc":"2.0","id":%q,"method":%[1]q}`, `{"jsonrpc":"2.0","id":%q,"result":{}}`} {
		if err := r.Append(wire.Direction(dir), wire.Wire, fmt.Appendf(nil, frame+"\n", method)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r recordedTape) end() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.Wait()
}
