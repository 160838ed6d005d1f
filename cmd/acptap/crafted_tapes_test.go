//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

const (
	maxMemory      = 256 << 20
	memoryVariable = "ACPTAP_TEST_MEMORY" // names the file that says how much memory acptap took
)

// measured is main, in no more memory than a crafted file may take many times,
// that writes down how much it took at most. A process's resource usage does not
// tell: it begins with that of who started it.
func measured() {
	path := os.Getenv(memoryVariable)
	if path == "" {
		main()
		return
	}
	limit := &syscall.Rlimit{Cur: 6 << 30, Max: 6 << 30} // Go reserves much that it does not use
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, limit); err != nil {
		panic(err)
	}
	code := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(path, status, 0o600)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}

// acptap runs the command in a process of its own, and returns how much memory it
// took, and whether it ended by itself.
func acptap(t *testing.T, stdin io.Reader, store string, args ...string) (peak int64, output string, ended bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "status")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Args = append([]string{"acptap", "--store", store}, args...)
	// With GOMEMLIMIT a busy machine, on which the collector is late, shows no more than an idle one.
	cmd.Env = append(os.Environ(), memoryVariable+"="+path, "GOMEMLIMIT=40MiB")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &out
	cmd.Run()
	status, err := os.ReadFile(path)
	if err != nil {
		return 0, out.String(), false
	}
	_, peakLine, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(peakLine)
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10, out.String(), true
}

// A crafted tape costs as much memory as it has bytes, whatever it says of itself:
// in every command that reads one, in the store and as a file.
func TestCraftedTapes(t *testing.T) {
	notRaced(t)
	big := func(n uint64) func(*craft) { return func(c *craft) { c.head["first"] = n } }
	rows := func(entries uint64, rows []byte) func(*craft) {
		return func(c *craft) { c.head["entries"], c.rows = entries, rows }
	}
	for i, tt := range []struct {
		name   string
		change func(*craft)
	}{
		{"first frame 2^40", big(1 << 40)}, // these two in every command
		{"as many rows as bytes", rows(7<<20, make([]byte, 7<<20))},
		{"first frame 2^64-2", big(1<<64 - 2)},
		{"first frame 2^64-1", big(1<<64 - 1)},
		{"first frame 0", big(0)},
		{"rows of two bytes", rows(7<<19, make([]byte, 7<<20))},
		{"more rows than bytes", rows(1<<40, make([]byte, 100))},
		{"a dictionary of nothing", rows(10, append(binary.AppendUvarint(nil, 7<<20), make([]byte, 7<<20)...))},
		{"rows that become too long", rows(10, make([]byte, 1<<30))},
		{"bytes that become too long", func(c *craft) { c.bytes = make([]byte, 1<<30) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store, id, path := craftTape(t, tt.change)
			commands := [][]string{{"doctor", "--deep"}, {"search", "x"}, {"export", path}}
			if i < 2 {
				commands = append(commands, [][]string{
					{"ls"}, {"sessions"}, {"show", id}, {"show", "--chat", path}, {"export", id}, {"diff", id, path},
					{"replay", "agent", id}, {"replay", "client", path, "--", "cat"},
				}...)
			}
			for _, args := range commands {
				checkMemory(t, store, args...)
			}
		})
	}
}

// checkMemory runs a command, and looks at how much memory it took.
func checkMemory(t *testing.T, store string, args ...string) {
	t.Helper()
	peak, output, ended := acptap(t, nil, store, args...)
	switch {
	case !ended || strings.Contains(output, "panic"):
		t.Errorf("acptap %v: it did not end by itself: %.2000s", args, output)
	case peak > maxMemory:
		t.Errorf("acptap %v: it took %d MiB: %.500s", args, peak>>20, output)
	default:
		t.Logf("acptap %v: %d MiB", args, peak>>20)
	}
}

// A craft is a block of a tape before it is put into its file.
type craft struct {
	head        map[string]any
	rows, bytes []byte
}

// craftTape makes a tape, and changes its block.
func craftTape(t *testing.T, change func(*craft)) (store, id, path string) {
	t.Helper()
	s := record.OpenStore(t.TempDir())
	j := recordtest.Record(t, s, record.Start{Command: []string{"agent"}})
	for i := range 100 {
		j.Append(wire.ClientToAgent, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"x"}`+"\n", i))
		j.Append(wire.AgentToClient, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", i))
	}
	j.Exit(0, nil, [wire.Directions]int64{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j.Wait()
	if err := s.Recover(func() bool { return false }, nil); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(s.Dir(), "tapes", j.Tape()+".db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bolt.Tx) error {
		blocks := tx.Bucket([]byte("blocks"))
		key, _ := blocks.Cursor().First()
		b := blocks.Bucket(key)
		enc, _ := zstd.NewWriter(nil)
		dec, _ := zstd.NewReader(nil)
		defer dec.Close()
		c := &craft{head: map[string]any{}}
		var errs [3]error
		d := json.NewDecoder(bytes.NewReader(b.Get([]byte("head"))))
		d.UseNumber()
		errs[0] = d.Decode(&c.head)
		c.rows, errs[1] = dec.DecodeAll(b.Get([]byte("rows")), nil)
		c.bytes, errs[2] = dec.DecodeAll(b.Get([]byte("bytes")), nil)
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		state := bytes.Clone(b.Get([]byte("state")))
		change(c)
		first, err := strconv.ParseUint(fmt.Sprint(c.head["first"]), 10, 64)
		if err != nil {
			return err
		}
		sum := func(p []byte) uint32 {
			table := crc32.MakeTable(crc32.Castagnoli)
			seed := binary.BigEndian.AppendUint64([]byte(j.Tape()), first)
			return crc32.Update(crc32.Checksum(seed, table), table, p)
		}
		rows, bytes := enc.EncodeAll(c.rows, nil), enc.EncodeAll(c.bytes, nil)
		c.head["rowsSum"], c.head["bytesSum"], c.head["stateSum"] = sum(rows), sum(bytes), sum(state)
		head, err := json.Marshal(c.head)
		if err != nil {
			return err
		}
		if err := blocks.DeleteBucket(key); err != nil {
			return err
		}
		b, err = blocks.CreateBucket(append(binary.BigEndian.AppendUint64(nil, first), key[8:]...))
		if err != nil {
			return err
		}
		for name, value := range map[string][]byte{"head": head, "rows": rows, "bytes": bytes, "state": state} {
			if err := b.Put([]byte(name), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Dir(), j.Tape(), path
}

// So does a crafted file in the portable form.
func TestCraftedFiles(t *testing.T) {
	notRaced(t)
	frame := `"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}` + "\n"
	for name, text := range map[string]func(w *bytes.Buffer){
		"a large number": func(w *bytes.Buffer) {
			w.WriteString(`{"seq":1,` + frame + `{"seq":268435456,` + frame)
		},
		"a larger number": func(w *bytes.Buffer) {
			w.WriteString(`{"seq":281474976710000,` + frame)
		},
		"many large numbers": func(w *bytes.Buffer) {
			for i := range 2000 {
				fmt.Fprintf(w, `{"seq":%d,%s`, 1+i<<20, frame)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			text(&b)
			dir := t.TempDir()
			path := filepath.Join(dir, "tape.jsonl")
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			store := filepath.Join(dir, "store")
			for _, args := range [][]string{
				{"import", path}, {"ls"}, {"search", "latency:>1s | prompt"}, {"show", path}, {"show", "--chat", "last"},
				{"export", "last"}, {"diff", path, "last"}, {"replay", "agent", path}, {"replay", "client", path, "--", "cat"}, {"doctor", "--deep"},
			} {
				checkMemory(t, store, args...)
			}
		})
	}
}

// A line costs no memory by its length, or is refused.
func TestLongLines(t *testing.T) {
	notRaced(t)
	size := 40 << 20
	if testing.Short() {
		size = 10 << 20
	}
	for _, tt := range []struct {
		name, before, piece, behind string
		refused                     bool
	}{
		{"text", `{"dir":"c2a","text":"`, `aé\ud83d\ude00\n`, `"}`, false},
		{"base64", `{"seq":7,"dir":"a2c","end":"crlf","base64":"`, `AAAA`, `"}`, false},
		{"a frame", `{"dir":"c2a","frame":{"a":[`, `{"b":"]}"},`, `0]}}`, false},
		{"no end", `{"dir":"c2a","text":"`, `a`, ``, true},
		{"something behind it", `{"dir":"c2a","text":"`, `a`, `","end":"crlf"}`, true},
		{"no member", `{"dir":"c2a","x":"`, `a`, `","text":""}`, true},
		{"no JSON", `{"dir":"c2a",`, ` `, `"text":""}`, true},
		{"a header", `{"acptap":1,"command":["`, `a`, `"]}`, true},
		{"another tool's", `{"dir":"c2a","msg":"`, `a`, `"}`, true},
		{"acp-devtools", `{"version":1,"session":{"startedAt":1781278066194},"messages":[{"raw":"`, `a`, `"}]}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pieces := strings.NewReader(strings.Repeat(tt.piece, (1<<20)/len(tt.piece)))
			readers := []io.Reader{strings.NewReader(tt.before)}
			for range size >> 20 {
				readers = append(readers, io.NewSectionReader(pieces, 0, pieces.Size()))
			}
			readers = append(readers, strings.NewReader(tt.behind+"\n"))
			peak, output, ended := acptap(t, io.MultiReader(readers...), t.TempDir(), "import", "-")
			if refused := output != ""; !ended || refused != tt.refused || strings.Contains(output, "panic") {
				t.Errorf("ended %v: %.500s", ended, output)
			}
			if peak > 80<<20 {
				t.Errorf("it took %d MiB: %.200s", peak>>20, output)
			}
		})
	}
}

// notRaced skips a test of memory where this was built with the race detector, which
// takes many times as much of it.
func notRaced(t *testing.T) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector takes memory")
	}
}
