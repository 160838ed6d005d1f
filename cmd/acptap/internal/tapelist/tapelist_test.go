package tapelist_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/termtext"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// oneAgent returns a store of many tapes of one agent, on each of which a session has
// one of a few titles, as when people do the same again and again.
func oneAgent(n int) record.Listing {
	rng := rand.New(rand.NewPCG(1, 2))
	titles := []string{"", "Fix the mean of an empty list", "Mend what broke in the parser when the input is empty, and add a test of that", "深い海の底のエージェントを直す", "\x1b[2Jclear"}
	var l record.Listing
	for i := range n {
		began := now.Add(-time.Duration(n-i) * 7 * time.Minute)
		tape := tapeid.New(began)
		info := record.Info{
			Tape: tape, Start: record.Start{Time: began, Command: []string{"npx", "agent"}, Cwd: "/home/me/project"},
			Turns: uint64(rng.IntN(300)), Failures: uint64(max(rng.IntN(2000)-1000, 0)), Frames: 100_000, Complete: true,
			Connection: dialect.Connection{Agent: "@scope/agent-with-a-long-name-acp", AgentVersion: "0.16.1"},
		}
		if i%20 == 0 {
			info.Tags, info.Notes = []string{"slow", "bug-7"}, 3
		}
		info.Live, info.Partial = i > n-3, i == n-5
		l.Tapes = append(l.Tapes, info)
		l.Sessions = append(l.Sessions, record.SessionInfo{
			ID: fmt.Sprintf("0193e0a1-8f0e-4b6d-%04x-%012x", rng.IntN(1<<16), i), Agent: "agent", Title: titles[i%len(titles)], Cwd: "/home/me/project",
			Runs: []record.Run{{Tape: tape, First: 3, Last: 9, Frames: 7, Turns: 2, Failures: uint64(i % 3), Began: began, Ended: began.Add(time.Minute)}},
		})
	}
	return l
}

// 200 tapes of one agent can be told apart at 80 columns, even where they began at the
// same time, and so can their sessions.
func TestToldApart(t *testing.T) {
	l := oneAgent(200)
	write := map[string]func(c cli.Canvas) error{
		"tapes": func(c cli.Canvas) error {
			return tapelist.Write(c, tapelist.Nested(tapelist.Rows(l.Tapes, &l)), now)
		},
		"tapes, wide": func(c cli.Canvas) error {
			return tapelist.WriteWide(c, tapelist.Nested(tapelist.Rows(l.Tapes, &l)))
		},
		"sessions": func(c cli.Canvas) error {
			return tapelist.WriteSessions(c, tapelist.Sessions(l.Sessions, &l), now)
		},
	}
	for name, write := range write {
		for _, width := range []int{40, 80, 120, 0} {
			var b strings.Builder
			if err := write(cli.Canvas{W: &b, Width: width}); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := termtext.Width(line); width > 0 && n > width {
					t.Errorf("%s: %d columns at %d: %q", name, n, width, line)
				}
				words := strings.Fields(line)
				if len(seen) > 0 { // not the heading
					words = words[1:]
				}
				if seen[words[0]] {
					t.Errorf("%s at %d: twice %q", name, width, words[0])
				}
				seen[words[0]] = true
				if width >= 80 && len(words) < 4 {
					t.Errorf("%s at %d: nothing tells what it is: %q", name, width, line)
				}
			}
			if len(seen) != 201 {
				t.Errorf("%s at %d: got %d lines", name, width, len(seen))
			}
		}
	}
}

// A list looks like that.
func TestWrite(t *testing.T) {
	l := oneAgent(6)
	for i := range l.Tapes {
		l.Tapes[i].Turns = uint64(i)
		l.Tapes[i].Failures = uint64(3 * i % 5)
		id := fmt.Sprintf("20260301T11%02d00000-aaaaa%d", i, i)
		l.Sessions[i].Runs[0].Tape, l.Tapes[i].Tape = id, id
	}
	l.Tapes[1].Start.Name, l.Tapes[1].First, l.Tapes[1].Last = "mine", time.Second, 84*time.Second
	l.Sessions[2].Runs[0].Cost = dialect.Cost{Amount: 0.1, Currency: "USD"}
	l.Tapes[2].Exit, l.Tapes[3].Exit = &wire.Exit{}, &wire.Exit{}
	l.Tapes[3].Worst = dialect.Outcome{How: dialect.Errored, Text: "Overloaded (529)"}
	l.Tapes[4].Start.Parent.Tape = l.Tapes[2].Tape
	l.Tapes[4].Connection = dialect.Connection{Agent: "files", AgentTitle: "Files"}
	l.Tapes[5].Tape = "20260301T110500000-aaaaa0" // as of the first tape
	var b strings.Builder
	for _, width := range []int{80, 120} {
		if err := tapelist.Write(cli.Canvas{W: &b, Width: width}, tapelist.Nested(tapelist.Rows(l.Tapes, &l)), now); err != nil {
			t.Fatal(err)
		}
	}
	const want = `
   TAPE                       TITLE         AGENT             TURNS  FAILED  AGE
⚡ 20260301T110000000-aaaaa0  #slow #bug-…  agent-wi… 0.16.1                 42m
?  aaaaa1                     Fix the mea…  mine 0.16.1          1+      3+  35m
✓  aaaaa2                     Mend what b…  agent-wi… 0.16.1      2       1  28m
●  └ aaaaa4                   clear         Files                 4       2  14m
✗  aaaaa3                     深い海の底…   agent-wi… 0.16.1      3       4  21m
●  20260301T110500000-aaaaa0  /home/me/pr…  agent-wi… 0.16.1      5           7m
   TAPE                       TITLE                  AGENT                            TOOK  TURNS  FAILED      COST  AGE
⚡ 20260301T110000000-aaaaa0  #slow #bug-7 ✎3 /hom…  agent-with-a-long-name… 0.16.1                                  42m
?  aaaaa1                     Fix the mean of an e…  mine 0.16.1                     1m23s     1+      3+            35m
✓  aaaaa2                     Mend what broke in t…  agent-with-a-long-name… 0.16.1             2       1  0.10 USD  28m
●  └ aaaaa4                   clear                  Files                                      4       2            14m
✗  aaaaa3                     深い海の底のエージェ…  agent-with-a-long-name… 0.16.1             3       4            21m
●  20260301T110500000-aaaaa0  /home/me/project       agent-with-a-long-name… 0.16.1             5                     7m
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is red or dim is so in colours only.
func TestColors(t *testing.T) {
	l := oneAgent(3)
	l.Tapes[0].Failures = 7
	var plain, colored strings.Builder
	for c, b := range map[bool]*strings.Builder{false: &plain, true: &colored} {
		if err := tapelist.Write(cli.Canvas{W: b, Width: 80, Color: c}, tapelist.Rows(l.Tapes, &l), now); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("got %q", plain.String())
	}
	for _, want := range []string{"\x1b[31m7\x1b[0m", "\x1b[32m●  \x1b[0m\x1b[1m", "\x1b[31m⚡ \x1b[0m", "\x1b[36m#slow #bug-7\x1b[0m", "\x1b[2m14m\x1b[0m"} {
		if !strings.Contains(colored.String(), want) {
			t.Errorf("got %q, want %q in it", colored.String(), want)
		}
	}
}

// The tapes that flags select.
func TestSelection(t *testing.T) {
	l := oneAgent(30)
	l.Tapes[3].Start.Name = "Mine"
	for _, tt := range []struct {
		flags string
		want  int // tapes; -1: an error
	}{
		{"", 30},
		{"--agent=AGENT-WITH", 30},
		{"--agent=mine", 1},
		{"--agent=nobody", 0},
		{"--since=1h", 8},
		{"--since=1d", 30},
		{"--since=2026-03-01T11:00:00Z", 8},
		{"--since=2026-03-02", 0},
		{"--since=soon", -1},
		{"--since=-1h", -1},
		{"--tag=slow", 2},
		{"--tag=slow,bug-7", 2},
		{"--tag=none", 0},
	} {
		var sel tapelist.Selection
		f := pflag.NewFlagSet("ls", pflag.ContinueOnError)
		sel.Register(f)
		f.StringSliceVar(&sel.Tags, "tag", nil, "")
		if err := f.Parse(strings.Fields(tt.flags)); err != nil {
			t.Fatal(err)
		}
		got := -1
		if err := sel.Parse(now); err == nil {
			got = len(slices.DeleteFunc(slices.Clone(l.Tapes), func(i record.Info) bool { return !sel.HasTape(&i) }))
		}
		if got != tt.want {
			t.Errorf("%q: got %d tapes, want %d", tt.flags, got, tt.want)
		}
	}
}

// The text that something is missing on a tape differs from the title even without colours,
// and appears only once if it has its own column.
func TestNotRecorded(t *testing.T) {
	l := oneAgent(2)
	l.Tapes[1].Lost = 345
	rows := tapelist.Rows(l.Tapes, &l)[1:]
	var short, wide strings.Builder
	if err := tapelist.Write(cli.Canvas{W: &short, Width: 100}, rows, now); err != nil {
		t.Fatal(err)
	}
	if want := "345 B not recorded · Fix the mean"; !strings.Contains(short.String(), want) {
		t.Errorf("got\n%s\nwant %q in it", short.String(), want)
	}
	if err := tapelist.WriteWide(cli.Canvas{W: &wide}, rows); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(wide.String(), "not recorded"); n != 1 {
		t.Errorf("got %d times what is missing:\n%s", n, wide.String())
	}
}

// A tape is called by its first session of which something is known.
func TestTitles(t *testing.T) {
	on := func(first uint64) []record.Run { return []record.Run{{Tape: "a", First: first}} }
	got := tapelist.Titles([]record.SessionInfo{
		{ID: "third", Title: "Later", Runs: on(9)},
		{ID: "second", Prompt: "Fix it", Runs: on(5)},
		{ID: "first", Runs: on(1)},
	})
	if len(got) != 1 || got["a"] != "Fix it" {
		t.Errorf("got %q, want Fix it", got)
	}
}

// BenchmarkWrite writes a list of as many tapes.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := oneAgent(n)
			b.ReportAllocs()
			for b.Loop() {
				if err := tapelist.Write(cli.Canvas{W: io.Discard, Width: 80, Color: true}, tapelist.Nested(tapelist.Rows(l.Tapes, &l)), now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
