package screen_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// millionFrames is how many frames the tape of the benchmarks has.
const millionFrames = 1_000_000

// million writes a tape of a million frames in the portable form: turns of 200
// frames, most of them chunks of 300 bytes, and one error near the end.
func million(w io.Writer) {
	b := bufio.NewWriterSize(w, 1<<20)
	text := strings.Repeat("the parser reads next token ", 6)
	fmt.Fprintln(b, `{"acptap":1,"started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w"}`)
	for i := range millionFrames {
		id := i / 200
		switch i % 200 {
		case 0:
			fmt.Fprintf(b, `{"dir":"c2a","at":%d.%03d,"frame":{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"sess_1","prompt":[{"type":"text","text":"go on"}]}}}`+"\n", i/1000, i%1000, id)
		case 199:
			answer := `"result":{"stopReason":"end_turn"}`
			if i > millionFrames-300 {
				answer = `"error":{"code":-32603,"message":"out of tokens"}`
			}
			fmt.Fprintf(b, `{"dir":"a2c","at":%d.%03d,"frame":{"jsonrpc":"2.0","id":%d,%s}}`+"\n", i/1000, i%1000, id, answer)
		case 50, 100, 150:
			fmt.Fprintf(b, `{"dir":"a2c","at":%d.%03d,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_1","update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Read file %d","status":"completed"}}}}`+"\n", i/1000, i%1000, i, i)
		default:
			fmt.Fprintf(b, `{"dir":"a2c","at":%d.%03d,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d %s"}}}}}`+"\n", i/1000, i%1000, i, text)
		}
	}
	b.Flush()
}

// BenchmarkMillion opens a tape of a million frames, and measures actions that must be quick,
// from the key to the drawing. It makes the tape once, in about 20 seconds.
func BenchmarkMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("20 seconds of processor time")
	}
	store := record.OpenStore(b.TempDir())
	r, w := io.Pipe()
	go func() {
		million(w)
		w.Close()
	}()
	id, err := store.Import(r, "million", nil)
	if err != nil {
		b.Fatal(err)
	}
	sub := screen.Subject{Name: id, Open: func() ([]*record.Tape, error) { return tapes(store, id) }}
	tape, err := store.Open(id)
	if err != nil {
		b.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Memory", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(memory(b, store), "MiB-peak")
		}
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			t := open(b, screen.Inspector{}, sub, 120, 40)
			t.wait(b, "the first screen", has("go on"))
			t.close(b)
		}
	})
	t := open(b, screen.Inspector{}, sub, 120, 40)
	t.reads(b)
	top := func(s string) bool { return strings.Contains(s, "\n 1 of 45,000 · ") } // 9 rows a turn
	for _, bb := range []struct{ name, typed, keys, sees, back string }{
		{"End", "", "G", "45,000 of 45,000", "g"},
		{"Jump", ":777777", "<Enter>", "frame 777,", "g"},
		{"Time", ":+500s", "<Enter>", "frame 500,", "g"},
		{"Page", "", "<PgDn>", " 19 of 45,000", "g"},
		{"Error", "", "e", "frame 999,800 ", "g"},
		{"Unfold", "", "z", " of 1,000,000", "z"},
		{"FilterField", "/update:tool_call", "<Enter>", "frame 51 · notification", "<Esc>g"},
		{"FilterRare", "/is:error", "<Enter>", " 1 of 2 · filter", "<Esc>g"},
		{"FilterText", `/"out of tokens"`, "<Enter>", " 1 of 2 · filter", "<Esc>g"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			if bb.name == "FilterText" {
				b.SetBytes(info.Bytes) // it looks at all of them
			}
			for b.Loop() {
				b.StopTimer()
				if t.press(b, bb.typed); bb.typed != "" {
					t.wait(b, "what is typed", has(bb.typed[1:]))
				}
				b.StartTimer()
				t.press(b, bb.keys)
				t.wait(b, bb.sees, has(bb.sees))
				b.StopTimer()
				t.press(b, bb.back)
				t.wait(b, "the first row", top)
				b.StartTimer()
			}
		})
	}
	// A seek through all of the tape, and the next key meanwhile.
	t.press(b, ":51<Enter>«frame 51 ·»")
	b.Run("Seek", func(b *testing.B) {
		for b.Loop() {
			t.press(b, "]«nothing of this tool call further down»")
			b.StopTimer()
			t.press(b, "M«mouse off»M") // which takes the message away
			b.StartTimer()
		}
	})
	b.Run("KeyWhileSeeking", func(b *testing.B) {
		for b.Loop() {
			t.press(b, "]")
			t.press(b, "j«frame 52 ·»")
			b.StopTimer()
			t.press(b, "k«frame 51 ·»")
			b.StartTimer()
		}
	})
	b.Run("TurnOfTheLast", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			t.press(b, "G«45,000 of 45,000»:999850<Enter>«frame 999,8»")
			b.StartTimer()
			t.press(b, "O«turn:5000»")
			b.StopTimer()
			t.press(b, "<Esc>")
			t.wait(b, "all", has(" of 45,000 · "))
			b.StartTimer()
		}
	})
	t.close(b)
}

// browseIn is the variable of the environment with the store in which a process
// of this test is to browse the one tape.
const browseIn = "INSPECT_TEST_BROWSE_IN"

// memory has another process browse a store, and returns how many MiB were
// resident there at most; 0 where the system does not tell.
func memory(b *testing.B, store *record.Store) float64 {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), browseIn+"="+store.Dir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	mib, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return mib
}

// reportMemory opens the tape, goes to its end, filters it, and reports the maximum resident
// memory.
func reportMemory(dir string) {
	store := record.OpenStore(dir)
	testing.Benchmark(func(b *testing.B) {
		if b.N > 1 {
			return
		}
		ids, err := store.Tapes()
		if err != nil {
			b.Fatal(err)
		}
		t := open(b, screen.Inspector{}, screen.TapesOf(store, "", ids...), 120, 40)
		t.reads(b)
		t.press(b, "G«45,000 of 45,000»g/is:error<Enter>« 1 of 2 »<Esc>/\"out of tokens\"<Enter>«filter \"out of»« 1 of 2 »<Esc>")
		t.reads(b)
		t.close(b)
	})
	status, _ := os.ReadFile("/proc/self/status")
	var kib float64
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		fmt.Sscan(after, &kib)
	}
	fmt.Println(kib / 1024)
}
