package report_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// No page is longer than its limit, whatever makes it long, and what is left out is named.
func TestPageLimit(t *testing.T) {
	markup := func(int, int) string { return strings.Repeat(`<"&'>`, 500) }
	for _, tt := range []struct {
		name   string
		frames report.Tape
		wants  []string
	}{
		{"turns", report.Tape{Frames: session(300, 2, words)}, []string{"are left out, as the story is long: acptap report --turns "}},
		{"long turns", report.Tape{Frames: session(40, 20, noise())}, []string{"are left out, as the story is long"}},
		{"one long turn", report.Tape{Frames: session(1, 300, markup)}, []string{`id="s1-turn-1"`, "cut off here"}},
		{"markup", report.Tape{Frames: session(50, 1, markup)}, []string{"are left out, as the story is long"}},
		{"history", report.Tape{Frames: loaded(500)}, []string{" steps before the first turn are left out: acptap show --chat 7k2m9p"}},
		{"images", report.Tape{Frames: pictures(40, 24<<10)}, []string{"<img ", "left out, as it is large; acptap show 7k2m9p:"}},
	} {
		const limit = 512 << 10
		page := write(t, report.Input{Tapes: []report.Tape{tt.frames}, Ref: "7k2m9p", Limit: limit})
		if len(page) > limit {
			t.Errorf("%s: got %d bytes, want at most %d", tt.name, len(page), limit)
		}
		for _, want := range tt.wants {
			if !bytes.Contains(page, []byte(want)) {
				t.Errorf("%s: the page does not have %s", tt.name, want)
			}
		}
		checkPage(t, page)
	}
}

var turnID = regexp.MustCompile(`<details class="turn" id="s1-turn-(\d+)"`)

// Of a long story the first and the last turns are told; the others have links to their
// frames, many together if there are very many.
func TestLongStory(t *testing.T) {
	for _, tt := range []struct {
		turns, chunks, told int // 0: as many as there is room for
		limit               int64
		link                string
	}{
		{100, 2, 100, 4 << 20, `<a href="#s1-turn-50"><span class="dot good"></span><b>50</b>`},
		{420, 2, 230, 2 << 20, `<b>101–`},
		{300, 20, 0, 5 << 20, `<a href="#frame-3283"><span class="dot good"></span><b>150</b>`},
	} {
		page := write(t, report.Input{Tapes: []report.Tape{{Frames: session(tt.turns, tt.chunks, noise())}}, Limit: tt.limit})
		var told []string
		for _, m := range turnID.FindAllSubmatch(page, -1) {
			told = append(told, string(m[1]))
		}
		var want []string
		for n := 1; n <= tt.turns; n++ {
			if tt.told == tt.turns || n <= 100 || n > tt.turns-130 {
				want = append(want, fmt.Sprint(n))
			}
		}
		if tt.told > 0 && !slices.Equal(told, want) {
			t.Errorf("of %d turns got %d told: %v, want %d", tt.turns, len(told), told, len(want))
		}
		if !bytes.Contains(page, []byte(tt.link)) {
			t.Errorf("of %d turns: there is no %s", tt.turns, tt.link)
		}
	}
}

// An image that comes again is shown once; one that is too large, or not wanted, not at all.
func TestImages(t *testing.T) {
	twice := func(yield func(dialect.Frame, error) bool) {
		for f, err := range pictures(3, 1000) {
			if f.Seq == 7 { // the second picture is the first one again
				f.Raw = bytes.Replace(f.Raw, []byte(picture(1, 1000)), []byte(picture(0, 1000)), 1)
			}
			if !yield(f, err) {
				return
			}
		}
	}
	in := report.Input{Tapes: []report.Tape{{Frames: twice}}, Ref: "7k2m9p"}
	page := write(t, in)
	if n := bytes.Count(page, []byte("<img ")); n != 2 || !bytes.Contains(page, []byte("the image of frame 6 again")) {
		t.Errorf("got %d images, want 2 of 3", n)
	}
	in.NoImages = true
	page = write(t, in)
	if want := "left out; acptap show 7k2m9p:6 has it"; bytes.Contains(page, []byte("<img ")) || !bytes.Contains(page, []byte(want)) {
		t.Errorf("without images: there is one, or the page does not say %q", want)
	}
}

// picture returns an image in base64.
func picture(n, size int) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{'p', byte(n), byte(n >> 8)}, size/3))
}

// pictures is a made tape of one turn with images.
func pictures(count, size int) func(yield func(dialect.Frame, error) bool) {
	return func(yield func(dialect.Frame, error) bool) {
		for f, err := range session(1, count, func(_, n int) string { return picture(n, size) }) {
			if f.Kind == wire.Notification {
				f.Raw = bytes.Replace(f.Raw, []byte(`"type":"text","text":`), []byte(`"type":"image","mimeType":"image/png","data":`), 1)
				f.Size = int64(len(f.Raw))
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// Sessions that ran beside each other have their strips on one axis.
func TestStripsBesideEachOther(t *testing.T) {
	page := string(write(t, report.Input{Tapes: []report.Tape{{Frames: interleaved}}}))
	const together = "Sessions that ran beside each other, on one axis"
	if !strings.Contains(page, together) {
		t.Fatalf("the page does not say %q", together)
	}
	backs := regexp.MustCompile(`#s[0-9]-turn-[0-9]"><title>[^<]*</title><rect class="back" x="([0-9.]+)%"`).FindAllStringSubmatch(page, -1)
	if len(backs) != 3 {
		t.Fatalf("got %d turns in strips, want 3", len(backs))
	}
	// Behind the start-ups: turn 1 of one session, turn 1 of the other that begins within it, and its turn 2.
	if backs[0][1] == "0.00" || backs[1][1] <= backs[0][1] || backs[2][1] <= backs[1][1] {
		t.Errorf("the turns begin at %v %%", backs)
	}
}

// interleaved is a made tape of two sessions, whose turns overlap.
func interleaved(yield func(dialect.Frame, error) bool) {
	track := dialect.NewTracker(dialect.ACP)
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"b"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}`,
		`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"b","prompt":[]}}`,
		`{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"b","prompt":[]}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}`,
	} {
		dir := wire.ClientToAgent
		if strings.Contains(line, "result") {
			dir = wire.AgentToClient
		}
		if !yield(madeFrame(track, uint64(i+1), dir, line), nil) {
			return
		}
	}
}

// loaded is a made tape of a session that is loaded, with so many messages.
func loaded(messages int) func(yield func(dialect.Frame, error) bool) {
	return func(yield func(dialect.Frame, error) bool) {
		track := dialect.NewTracker(dialect.ACP)
		if !yield(madeFrame(track, 1, wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}`), nil) {
			return
		}
		for n := range messages {
			kind := [...]string{"user_message_chunk", "agent_message_chunk"}[n%2]
			update := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%q,"content":{"type":"text","text":"x"}}}}`, kind)
			if !yield(madeFrame(track, uint64(n+2), wire.AgentToClient, update), nil) {
				return
			}
		}
	}
}
