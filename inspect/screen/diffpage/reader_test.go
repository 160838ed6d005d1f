package diffpage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/replay/compare"
)

const prompt = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}`

// said is a message of the agent.
func said(text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text)
}

// imported has a tape with a prompt and what the agent said.
func imported(t *testing.T, store *record.Store, texts ...string) Subject {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "{\"acptap\":1,\"protocol\":\"acp\"}\n{\"dir\":\"c2a\",\"frame\":%s}\n", prompt)
	for _, text := range texts {
		fmt.Fprintf(&b, "{\"dir\":\"a2c\",\"frame\":%s}\n", said(text))
	}
	id, err := store.Import(strings.NewReader(b.String()), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	return onStore(store, id, false)
}

func onStore(store *record.Store, id string, live bool) Subject {
	open := func() ([]*record.Tape, error) {
		tape, err := store.Open(id)
		return []*record.Tape{tape}, err
	}
	return Subject{Open: open, Live: live}
}

// A comparing is a Reader at work.
type comparing struct {
	*Reader
	changed chan struct{} // holds one
	ended   chan struct{}
}

func start(t *testing.T, r *Reader) *comparing {
	ctx, cancel := context.WithCancel(t.Context())
	g := &comparing{r, make(chan struct{}, 1), make(chan struct{})}
	go func() {
		defer close(g.ended)
		r.Read(ctx, func() {
			select {
			case g.changed <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-g.ended })
	return g
}

// wait waits until the table is as it should be.
func (g *comparing) wait(t *testing.T, what string, ok func(*Table) bool) *Table {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		if table := g.Table(); table != nil && ok(table) {
			return table
		}
		select {
		case <-g.changed:
		case <-late:
			t.Fatalf("waited for %s in vain; the table: %+v", what, g.Table())
		}
	}
}

func last(steps []compare.Step) string { return steps[len(steps)-1].Text }

// TestReaderLive: a side that is being recorded grows until it has ended.
func TestReaderLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	left := imported(t, store, "one")
	j := recordtest.Record(t, store, record.Start{Command: []string{"agent"}, Proto: "acp"})
	say := func(dir wire.Direction, text string) {
		t.Helper()
		if err := j.Append(dir, wire.Wire, []byte(text+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	say(wire.ClientToAgent, prompt)
	g := start(t, NewReader(left, onStore(store, j.Tape(), true), compare.Content))
	g.wait(t, "what is there", func(t *Table) bool {
		return len(t.New) > 0 && t.taken[Left].ended && !t.taken[Right].ended && differs(t)
	})
	say(wire.AgentToClient, said("one"))
	g.wait(t, "that both are the same", func(t *Table) bool { return !differs(t) })
	say(wire.AgentToClient, said(" and two"))
	g.wait(t, "that they are not any more", differs)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j.Wait()
	select {
	case <-g.ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("Read goes on though both tapes have ended")
	}
	if table := g.Table(); !table.taken[Right].ended || len(table.Rows) != len(table.Old) || table.Summary() != "1 difference: 1 changed" {
		t.Errorf("got %d rows, %s; want one changed", len(table.Rows), table.Summary())
	}
}

// TestReaderStops: with its context Read ends, though the tape does not.
func TestReaderStops(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	j := recordtest.Record(t, store, record.Start{Command: []string{"agent"}})
	ctx, cancel := context.WithCancel(t.Context())
	r := NewReader(onStore(store, j.Tape(), true), onStore(store, j.Tape(), true), compare.Content)
	r.Read(ctx, func() {
		if r.Table() != nil {
			cancel()
		}
	})
}

// TestReaderErrors: an unreadable side is reported, and the other side is shown.
func TestReaderErrors(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	gone := Subject{Open: func() ([]*record.Tape, error) { return nil, errors.New("gone") }, Lines: 10}
	g := start(t, NewReader(gone, imported(t, store, "one"), compare.Content))
	<-g.ended
	table := g.Table()
	if len(table.Old) != 0 || len(table.New) == 0 || table.taken[Left].err == nil || !table.taken[Left].ended {
		t.Errorf("got %+v", table)
	}
	v := NewView(g.Reader, [sides]Head{{Name: "a"}, {Name: "b"}})
	if got := spanText(v.Lines(100)[0].Spans); !strings.Contains(got, "0 steps · a part cannot be read") {
		t.Errorf("got %q", got)
	}
}

// TestReaderLimit: only the beginning of a very long side is compared, and the page says so.
func TestReaderLimit(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	long := strings.Repeat("a line\n", 1000)
	r := NewReader(imported(t, store, long), imported(t, store, "short", " and", " sweet"), compare.Content)
	r.limit = limit{4, 10_000}
	g := start(t, r)
	<-g.ended
	table := g.Table()
	if n := len(table.Old); n < 50 || n > 200 || last(table.Old) != "      | a line" {
		t.Errorf("got %d steps, the last one is %q", n, last(table.Old))
	}
	v := NewView(r, [sides]Head{{Name: "a"}, {Name: "b"}})
	if got := spanText(v.Lines(100)[0].Spans); strings.Count(got, "its end is left out") != 1 {
		t.Errorf("got %q", got)
	}

	r = NewReader(imported(t, store, "one"), imported(t, store, "one", " two", " three"), compare.Content)
	r.limit.frames = 3
	g = start(t, r)
	<-g.ended
	if table := g.Table(); table.taken[Left].full || !table.taken[Right].full || last(table.New[:len(table.New)-1]) != "      | one two" {
		t.Errorf("got %+v, and at the end %q", table.taken, last(table.New))
	}
}

// differs reports whether a table has any difference.
func differs(t *Table) bool {
	return slices.ContainsFunc(t.Rows, func(r compare.Row) bool { return r.Kind != compare.Equal })
}
