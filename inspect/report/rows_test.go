package report_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// tape returns a tape of testdata/tapes.
func tape(t testing.TB, name string) report.Tape {
	t.Helper()
	tape, err := record.OpenFile("../../testdata/tapes/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	return report.Tape{Info: info, Frames: tape.Frames(1)}
}

// write returns the page of an input.
func write(t testing.TB, in report.Input) []byte {
	t.Helper()
	var b bytes.Buffer
	broken, err := report.Write(&b, in)
	if err != nil || len(broken) > 0 {
		t.Fatalf("got %v, %v", broken, err)
	}
	return b.Bytes()
}

// listed are the rows of a page, as far as the tests look at them.
type listed struct {
	Format int
	Seq    []uint64
	Asked  []uint64
	Size   []int64
	Kind   string
	Fail   string
	State  []int
	Class  string
	Sum    []string
	Fold   [][2]int
	Found  []struct{ Row int }
	Out    int
	Blocks [][]int
}

var blockPattern = regexp.MustCompile(`<script type="application/octet-stream" id="([a-z0-9-]+)">([A-Za-z0-9_-]*)</script>`)

// unpacked returns what is packed in a page.
func unpacked(t testing.TB, page []byte) (rows listed, blocks map[string][]byte) {
	t.Helper()
	blocks = map[string][]byte{}
	for _, m := range blockPattern.FindAllSubmatch(page, -1) {
		data, err := base64.RawURLEncoding.DecodeString(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		blocks[string(m[1])], err = io.ReadAll(flate.NewReader(bytes.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(blocks["rows"], &rows); err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	for i, delta := range rows.Seq {
		seq += delta
		rows.Seq[i] = seq
	}
	return rows, blocks
}

// lines returns the bytes of the frames by row, nil where the page does not have them.
func lines(rows listed, blocks map[string][]byte) [][]byte {
	var of [6][][]byte
	for c, counts := range rows.Blocks {
		for i := range counts {
			of[c] = append(of[c], bytes.Split(blocks[fmt.Sprintf("bytes-%d-%d", c, i)], []byte{'\n'})...)
		}
	}
	var next [6]int
	var list [][]byte
	for i := range rows.Seq {
		if rows.Class[i] == '?' {
			list = append(list, nil)
			continue
		}
		c := rows.Class[i] - '0'
		if next[c] < len(of[c]) {
			list = append(list, of[c][next[c]])
		} else {
			list = append(list, nil)
		}
		next[c]++
	}
	return list
}

// What is packed is what was on the tape.
func TestPacked(t *testing.T) {
	for _, name := range []string{"acpx-exec", "acpx-cancel", "mcp-everything", "acp-v2"} {
		tape := tape(t, name)
		rows, blocks := unpacked(t, write(t, report.Input{Tapes: []report.Tape{tape}}))
		packed := lines(rows, blocks)
		i := 0
		for f := range tape.Frames {
			if i == len(rows.Seq) {
				t.Fatalf("%s: frame %d has no row", name, f.Seq)
			}
			want := string(f.Raw)
			if !f.Kind.IsMessage() {
				b, _ := json.Marshal(want)
				want = string(b)
			}
			if got := string(packed[i]); rows.Seq[i] != f.Seq || got != want {
				t.Errorf("%s: got row %d: %s, want %d: %s", name, rows.Seq[i], got, f.Seq, want)
			}
			if rows.Kind[i]-'0' != byte(f.Kind) || rows.Size[i] != f.Size {
				t.Errorf("%s: row %d: got kind %c and size %d, want %d and %d", name, f.Seq, rows.Kind[i], rows.Size[i], f.Kind, f.Size)
			}
			i++
		}
		if i != len(rows.Seq) {
			t.Errorf("%s: got %d rows, want %d", name, len(rows.Seq), i)
		}
	}
}

// session is a made tape: a prompt, chunks of text and its answer, over and over.
func session(turns, chunks int, text func(turn, chunk int) string) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		track := dialect.NewTracker(dialect.ACP)
		seq := uint64(0)
		add := func(dir wire.Direction, raw string) bool {
			seq++
			return yield(madeFrame(track, seq, dir, raw), nil)
		}
		ok := add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`) &&
			add(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`) &&
			add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`) &&
			add(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
		for i := 0; ok && i < turns; i++ {
			ok = add(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}`, i+2))
			for n := 0; ok && n < chunks; n++ {
				b, _ := json.Marshal(text(i, n))
				ok = add(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+string(b)+`}}}}`)
			}
			ok = ok && add(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, i+2))
		}
	}
}

// madeFrame returns the next frame of a tape, a millisecond after the one before.
func madeFrame(track *dialect.Tracker, seq uint64, dir wire.Direction, raw string) dialect.Frame {
	f := dialect.Frame{Frame: wire.Frame{Seq: seq, At: time.Duration(seq) * time.Millisecond, Dir: dir, Raw: []byte(raw), Size: int64(len(raw))}}
	e := wire.Scan(f.Raw)
	f.Kind = e.Kind
	f.Annotation, _ = track.Observe(&f.Frame, e)
	return f
}

func words(turn, chunk int) string { return fmt.Sprintf("word %d.%d ", turn, chunk) }

// noise returns text that does not pack.
func noise() func(turn, chunk int) string {
	seed := uint32(1)
	return func(int, int) string {
		b := make([]byte, 400)
		for i := range b {
			seed = seed*1664525 + 1013904223
			b[i] = 'a' + byte(seed>>24)%26
		}
		return string(b)
	}
}

// Where a tape has more frames than a list, a run of chunks is one row.
func TestFoldedRows(t *testing.T) {
	made := report.Tape{Info: record.Info{Lines: 250_000}, Frames: session(3, 8, words)}
	rows, _ := unpacked(t, write(t, report.Input{Tapes: []report.Tape{made}}))
	if want := []uint64{1, 2, 3, 4, 5, 6, 14, 15, 16, 24, 25, 26, 34}; !slices.Equal(rows.Seq, want) {
		t.Errorf("got rows %v, want %v", rows.Seq, want)
	}
	if want := [][2]int{{5, 8}, {8, 8}, {11, 8}}; !slices.Equal(rows.Fold, want) {
		t.Errorf("got folded %v, want %v", rows.Fold, want)
	}
	if got, want := rows.Sum[5], "word 0.0 word 0.1 "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
}

// A page is no longer than its limit, and what matters most is in it.
func TestLimit(t *testing.T) {
	made := report.Tape{Info: record.Info{Lines: 5000}, Frames: session(50, 40, noise())}
	const limit = 800 << 10 // what packing makes of it differs by Go release, and there is room for that
	page := write(t, report.Input{Tapes: []report.Tape{made}, Limit: limit})
	packed := 0
	for _, m := range blockPattern.FindAllSubmatch(page, -1) {
		packed += len(m[2])
	}
	if packed > limit {
		t.Errorf("got %d bytes packed, want at most %d", packed, limit)
	}
	rows, blocks := unpacked(t, page)
	left := 0
	for i, line := range lines(rows, blocks) {
		switch kind := wire.Kind(rows.Kind[i] - '0'); {
		case line == nil && kind != wire.Notification:
			t.Errorf("row %d: a %v was left out", rows.Seq[i], kind)
		case line == nil:
			left++
		}
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
	rows, _ = unpacked(t, write(t, report.Input{Tapes: []report.Tape{made}, Limit: 20 << 10}))
	if rows.Out == 0 || rows.Out+len(rows.Seq) != 4+50*42 {
		t.Errorf("got %d rows and %d left out", len(rows.Seq), rows.Out)
	}
}

// A long frame is cut, and bytes that are no JSON are a text.
func TestLines(t *testing.T) {
	long := func(int, int) string { return strings.Repeat("é", 40_000) }
	rows, blocks := unpacked(t, write(t, report.Input{Tapes: []report.Tape{{Frames: session(1, 1, long)}}}))
	packed := lines(rows, blocks)
	var cut struct {
		Cut  string
		Size int64
	}
	if err := json.Unmarshal(packed[5], &cut); err != nil || cut.Size != rows.Size[5] || len(cut.Cut) < 60_000 || len(cut.Cut) > 70_000 {
		t.Errorf("got %d bytes of %d, %v", len(cut.Cut), cut.Size, err)
	}
	frames := func(yield func(dialect.Frame, error) bool) {
		for i, raw := range []string{"\xffno JSON\n", "{\"id\":1,\r\n\"result\":{}}"} {
			f := wire.Frame{Seq: uint64(i + 1), Raw: []byte(raw), Size: int64(len(raw)), Kind: wire.Scan([]byte(raw)).Kind}
			if !yield(dialect.Frame{Frame: f}, nil) {
				return
			}
		}
	}
	rows, blocks = unpacked(t, write(t, report.Input{Tapes: []report.Tape{{Frames: frames}}}))
	for i, want := range []string{"\ufffdno JSON\n", "{\"id\":1,\r\n\"result\":{}}"} {
		var got string
		if err := json.Unmarshal(lines(rows, blocks)[i], &got); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// A filter says which frames are listed; what it leaves out counts for the others.
func TestListed(t *testing.T) {
	frames := func(yield func(dialect.Frame, error) bool) {
		for f, err := range session(2, 2, words) {
			if f.Seq == 12 || !yield(f, err) { // 12 answers the last prompt
				return
			}
		}
	}
	for query, want := range map[string][]uint64{
		"turn:2 !kind:notification": {9},
		"is:open":                   {9},
		"failure:unanswered":        {9},
		"latency:>2ms":              {8},
		"":                          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
	} {
		f, err := filter.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := unpacked(t, write(t, report.Input{Tapes: []report.Tape{{Frames: frames}}, Filter: f}))
		if !slices.Equal(rows.Seq, want) {
			t.Errorf("%s: got rows %v, want %v", query, rows.Seq, want)
		}
		for i, seq := range rows.Seq {
			if got, want := rows.Fail[i]-'0' == byte(dialect.Unanswered), seq == 9; got != want {
				t.Errorf("%s: row %d: got unanswered %v, want %v", query, seq, got, want)
			}
		}
	}
}

func BenchmarkReport(b *testing.B) {
	for _, turns := range []int{100, 1000} {
		b.Run(fmt.Sprint(turns*100, " frames"), func(b *testing.B) {
			b.ReportAllocs()
			in := report.Input{Tapes: []report.Tape{{Frames: session(turns, 98, words)}}}
			for b.Loop() {
				b.ReportMetric(float64(len(write(b, in))), "bytes/page")
			}
		})
	}
}

// A page without frames has none of their bytes.
func TestNoFrames(t *testing.T) {
	page := write(t, report.Input{Tapes: []report.Tape{{Frames: session(1, 1, words)}}, NoFrames: true, Ref: "7k2m9p"})
	if blockPattern.Match(page) || bytes.Contains(page, []byte(`id="list"`)) {
		t.Error("there is a list of frames")
	}
	if want := []byte("acptap show 7k2m9p"); !bytes.Contains(page, want) {
		t.Errorf("the page does not say %s", want)
	}
}
