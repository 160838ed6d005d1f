package replay_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// echo is an agent that repeats prompts.
func echo([]string) {
	sessions := 0
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		id, result := wire.ValueAt(in.Text(), "id").Raw(), `{}`
		switch wire.ValueAt(in.Text(), "method").Text() {
		case "initialize":
			result = `{"protocolVersion":1}`
		case "session/new":
			sessions++
			result = fmt.Sprintf(`{"sessionId":"live%s-%d"}`, filepath.Base(wire.ValueAt(in.Text(), "params.cwd").Text()), sessions)
		case "session/prompt":
			p := wire.ValueAt(in.Text(), "params")
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"agent_message_chunk","content":%s}}}`+"\n", p.Get("sessionId").Raw(), p.Get("prompt.0").Raw())
			result = `{"stopReason":"end_turn"}`
		}
		switch filepath.Base(wire.ValueAt(in.Text(), "params.cwd").Text()) {
		case "mute":
			os.Stdout.Close()
			continue
		case "slow":
			continue
		case "end":
			return
		case "long":
			fmt.Printf(`{"result":{"_meta":{"x":%q},"sessionId":"long"},"id":%s}`+"\n", strings.Repeat("x", 1<<20), id)
			continue
		}
		if id != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
	}
}

var echoAgent = replaytest.Role("echo").Command

// converse runs a cassette with a client that waits for each answer, and returns the agent's
// messages.
func converse(t *testing.T, c *replay.Cassette, says ...string) (string, replay.Report, error) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var got bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		out := bufio.NewReader(outR)
		for _, text := range says {
			io.WriteString(inW, text+"\n")
			for {
				line, err := out.ReadString('\n')
				got.WriteString(line)
				if err != nil || wire.ValueAt(line, "id").Raw() == wire.ValueAt(text, "id").Raw() {
					break
				}
			}
		}
		inW.Close()
		io.Copy(&got, out)
	}()
	report, err := c.Run(t.Context(), inR, outW, io.Discard)
	outW.Close()
	<-done
	return got.String(), report, err
}

func TestModes(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "testdata")
	file := filepath.Join(dir, "fix.jsonl")
	c := &replay.Cassette{Path: file, Mode: replay.ModeNone, Command: echoAgent}
	talk := []string{hello, makeNew, strings.Replace(first, `"sessionId":"s"`, `"sessionId":"liverec-1"`, 1)}
	if _, _, err := converse(t, c); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("none without a file: got %v", err)
	}

	c.Mode = replay.ModeOnce
	recorded, _, err := converse(t, c, talk...)
	if err != nil {
		t.Fatal(err)
	}
	before := readFile(t, file)
	cwd, _ := os.Getwd()
	head := fmt.Sprintf(`{"acptap":1,"cwd":%q,"name":%q}`+"\n", cwd, filepath.Base(os.Args[0]))
	if got, _, _ := strings.Cut(before, "{\"dir\""); got != head {
		t.Errorf("the file begins with %s, want %s", got, head)
	}
	if got, usual := mode(t, dir), mode(t, parent); got != usual {
		t.Errorf("the directory of the file has mode %v, want %v as others", got, usual)
	}

	c.Command = []string{"/there/is/no/such/agent"}
	if replayed, report, err := converse(t, c, talk...); err != nil || replayed != recorded {
		t.Errorf("once, with a file: got %v\n%s\nwant\n%s\n%s", err, replayed, recorded, &report)
	}

	c.Command = echoAgent
	c.Mode = replay.ModeAll
	if _, _, err := converse(t, c, talk...); err != nil {
		t.Fatal(err)
	}
	if after := readFile(t, file); after != before {
		t.Errorf("recorded twice: got\n%s\nwant\n%s", after, before)
	}

	c.Mode = replay.ModeNew
	more := append(talk[:len(talk):len(talk)],
		`{"jsonrpc":"2.0","id":20,"method":"session/new","params":{"cwd":"/w/another-project","mcpServers":[]}}`, // its id is long enough to be unique
		`{"jsonrpc":"2.0","id":21,"method":"session/prompt","params":{"sessionId":"liveanother-project-1","prompt":[{"type":"text","text":"new"}]}}`)
	added, report, err := converse(t, c, more...)
	if err != nil || report.Live != 1 || !strings.Contains(added, `"id":21,"result":{"stopReason"`) {
		t.Fatalf("new: got %v with the report %+v\n%s", err, report, added)
	}

	c.Mode = replay.ModeNone
	if replayed, report, err := converse(t, c, more...); err != nil || replayed != added {
		t.Errorf("none, with what new has added: got %v\n%s\nwant\n%s\n%s", err, replayed, added, &report)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// The tape that Open returned is played once: the file is not read again.
func TestOpened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fix.jsonl")
	if err := os.WriteFile(file, []byte(readFile(t, replaytest.TapeFile(t, "acp-go-sdk.jsonl"))), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &replay.Cassette{Path: file}
	if tape, err := c.Open(); tape == nil || err != nil {
		t.Fatalf("got %v and %v", tape, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if said, _, err := converse(t, c, hello); !strings.Contains(said, "protocolVersion") || errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %q and %v", said, err)
	}
	if _, _, err := converse(t, c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another run: got %v, want that the file is missing", err)
	}
}

// The store next to the file during recording is ignored by git.
func TestRecordingIsIgnored(t *testing.T) {
	dir := t.TempDir()
	in, w := io.Pipe()
	r, out := io.Pipe()
	go func() {
		defer w.Close()
		io.WriteString(w, hello+"\n")
		bufio.NewReader(r).ReadString('\n')
		found, _ := filepath.Glob(filepath.Join(dir, ".*", ".gitignore"))
		if len(found) != 1 || readFile(t, found[0]) != "*\n" {
			t.Errorf("got %q", found)
		}
	}()
	c := &replay.Cassette{Path: filepath.Join(dir, "fix.jsonl"), Command: echoAgent}
	if _, err := c.Run(t.Context(), in, out, io.Discard); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// If a live agent makes a session in a frame longer than the part that is read, the session
// continues there.
func TestLiveLong(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: echoAgent}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	got, report, err := converse(t, c, hello,
		`{"jsonrpc":"2.0","id":20,"method":"session/new","params":{"cwd":"/w/long","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":21,"method":"session/prompt","params":{"sessionId":"long","prompt":[{"type":"text","text":"new"}]}}`)
	if err != nil || !strings.Contains(got, `"id":21,"result":{"stopReason"`) {
		t.Errorf("got %v with the report\n%s\n%s", err, &report, got[max(len(got)-1000, 0):])
	}
}

// Requests handed to a live agent that exits, or cannot be started, are answered with an
// error; the file is unchanged.
func TestLiveAgentEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fix.jsonl")
	c := &replay.Cassette{Path: file, Mode: replay.ModeAll, Command: echoAgent}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, file)
	c.Mode = replay.ModeNew
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{[]string{os.Args[0], "-test.run=^$"}, "the live agent ended"},
		{[]string{"/there/is/no/such/agent"}, "the live agent ended: starting agent"},
	} {
		c.Command = tt.command
		got, report, err := converse(t, c, hello, makeNew)
		if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(got, `"id":11,"error":{"code":-32603,"message":"acptap replay: `+tt.want) {
			t.Errorf("got %v with the report\n%s\n%s\nwant %s", err, &report, got, tt.want)
		}
	}
	if after := readFile(t, file); after != before {
		t.Errorf("the file is now\n%s\nand was\n%s", after, before)
	}
}

// One that closes its stdout and lives on is as good as ended.
func TestLiveAgentIsMute(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: echoAgent}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	got, report, err := converse(t, c, hello, strings.Replace(makeNew, "/w/rec", "/w/mute", 1))
	if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(got, `"id":11,"error":{"code":-32603,"message":"acptap replay: the live agent ended`) {
		t.Errorf("got %v with the report\n%s\n%s", err, &report, got)
	}
}

// Requests that it did not answer before it exited are not added to the file, so a later run
// makes them again. Those that it answered are added.
func TestUnansweredIsNotAdded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fix.jsonl")
	c := &replay.Cassette{Path: file, Mode: replay.ModeAll, Command: echoAgent}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	ends := `{"jsonrpc":"2.0","id":12,"method":"session/new","params":{"cwd":"/w/end","mcpServers":[]}}`
	if _, _, err := converse(t, c, hello, makeNew, ends); !errors.Is(err, replay.ErrDiverged) {
		t.Errorf("got %v, want ErrDiverged", err)
	}
	after := readFile(t, file)
	if !strings.Contains(after, "/w/rec") || strings.Contains(after, "/w/end") {
		t.Errorf("the file is\n%s", after)
	}
	got, report, err := converse(t, c, hello, makeNew, strings.Replace(ends, "/w/end", "/w/new", 1))
	if err != nil || !strings.Contains(got, `"id":12,"result"`) {
		t.Errorf("got %v with the report\n%s\n%s", err, &report, got)
	}
}

// All that is open then is answered in the order in which it came.
func TestLiveAgentEndsInOrder(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: echoAgent}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	var requests, want []string
	for i := range 10 {
		requests = append(requests, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/w/slow","mcpServers":[]}}`, 20-i))
		want = append(want, fmt.Sprint(20-i))
	}
	last := len(requests) - 1
	requests[last] = strings.Replace(requests[last], "slow", "end", 1)
	got, _, _ := converse(t, c, hello, strings.Join(requests, "\n"))
	var answered []string
	for line := range strings.Lines(got) {
		if m := wire.ValueOf(line); m.Get("error").Exists() {
			answered = append(answered, m.Get("id").Raw())
		}
	}
	if !slices.Equal(answered, want) {
		t.Errorf("got errors for %v, want for %v, in\n%s", answered, want, got)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
