package replay_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// What cannot be played at all is an error at once.
func TestAgentCannotPlay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		agent replay.Agent
		want  string
	}{
		{"no tape", replay.Agent{}, "no tape to replay"},
		{"an empty tape", replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, `! {"acptap":1}`)}}, "there is nothing on the tape that could be replayed"},
		{"no such session", replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, twoTurns)}, Session: "z"}, "the tape has nothing of session z"},
		{"no such connection", replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, twoTurns)}, Connection: 2}, "there is no connection 2; the tape has 1"},
	} {
		var out bytes.Buffer
		_, err := tt.agent.Run(t.Context(), strings.NewReader(hello+"\n"), &out, io.Discard)
		if err == nil || err.Error() != tt.want || out.Len() > 0 {
			t.Errorf("%s: got %v and %q, want %s", tt.name, err, &out, tt.want)
		}
	}
}

func TestEager(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			tape := replaytest.Open(t, path)
			info, _ := tape.Info()
			var out, errOut bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: info.Start.Cwd}
			report, err := a.Run(context.Background(), bytes.NewReader(replaytest.Said(t, tape, wire.ClientToAgent)), &out, &errOut)
			t.Logf("%+v", report)
			if err != nil {
				t.Errorf("%v\n%s", err, &report)
			}
			want := replaytest.Said(t, tape, wire.AgentToClient)
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("got %d bytes, want %d", out.Len(), len(want))
			}
			if want := replaytest.Said(t, tape, wire.AgentStderr); !bytes.Equal(errOut.Bytes(), want) {
				t.Errorf("stderr: got %q, want %q", errOut.Bytes(), want)
			}
		})
	}
}

// A client in another directory gets the recorded frames with its directory in
// them.
func TestElsewhere(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			tape := replaytest.Open(t, path)
			info, err := tape.Info()
			if err != nil {
				t.Fatal(err)
			}
			sessions, err := tape.Sessions()
			if err != nil {
				t.Fatal(err)
			}
			const cwd, dir = "/home/someone/else", "/mnt/in another place"
			moves := []string{info.Start.Cwd, cwd}
			for _, s := range sessions {
				if s.Cwd != "" && s.Cwd != info.Start.Cwd {
					moves = append(moves, s.Cwd, dir)
				}
			}
			moved := func(text []byte) string { return strings.NewReplacer(moves...).Replace(string(text)) }
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: cwd}
			report, err := a.Run(t.Context(), strings.NewReader(moved(replaytest.Said(t, tape, wire.ClientToAgent))), &out, io.Discard)
			if err != nil {
				t.Errorf("%v\n%s", err, &report)
			}
			if d := cmp.Diff(out.String(), moved(replaytest.Said(t, tape, wire.AgentToClient))); d != "" {
				t.Errorf("-got +want:\n%s", d)
			}
		})
	}
}

// Frames longer than the part that is kept get live ids and paths too, wherever in the frame
// these are.
func TestLongFrames(t *testing.T) {
	long := strings.Repeat("/w/rec ", 1<<18)
	lines := func(dir, id string) (client, agent []string) {
		client = []string{
			`{"id":0,"method":"initialize","params":{"protocolVersion":1}}`,
			`{"id":1,"method":"session/new","params":{"cwd":"` + dir + `","mcpServers":[]}}`,
			`{"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + strings.Repeat("word ", 1<<18) + `"}]},"id":` + id + `}`,
			`{"result":{"content":"` + long + `"},"id": 7 }`,
		}
		agent = []string{
			`{"id":0,"result":{"protocolVersion":1}}`,
			`{"id":1,"result":{"sessionId":"s"}}`,
			`{"id":7,"method":"fs/write_text_file","params":{"sessionId":"s","content":"` + long + `","path":"` + dir + `/big.txt"}}`,
			`{"result":{"_meta":{"a":"` + dir + `/x","b":"` + long + `"},"stopReason":"end_turn"},"jsonrpc":"2.0","id":` + id + `}`,
		}
		return client, agent
	}
	var tape strings.Builder
	client, agent := lines("/w/rec", "2")
	for i := range client {
		tape.WriteString("c " + client[i] + "\na " + agent[i] + "\n")
	}
	client, want := lines("/another/place", `"two"`)
	var out bytes.Buffer
	player := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, tape.String())}, Cwd: "/w/rec"}
	if report, err := player.Run(t.Context(), strings.NewReader(strings.Join(client, "\n")+"\n"), &out, io.Discard); err != nil {
		t.Errorf("%v\n%s", err, &report)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range want {
		if i == len(got) || got[i] != line {
			short := func(s string) string { return strings.ReplaceAll(s, long, "…") }
			t.Fatalf("got %d lines, want %d; the first that differs is\n%.1000s\nwant\n%s", len(got), len(want), short(strings.Join(got[min(i, len(got)):], "\n")), short(line))
		}
	}
}

// Messages of a server's client are not kept.
func TestMemoryOfCalls(t *testing.T) {
	const calls, size = 400, 256 << 10
	tape := replaytest.Tape(t, `c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
	in, says := io.Pipe()
	hears, out := io.Pipe()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		defer says.Close()
		answers := bufio.NewScanner(hears)
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", size) + `"}}` + "\n"
		io.WriteString(says, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n")
		for range calls {
			answers.Scan()
			io.WriteString(says, ping)
		}
		answers.Scan()
		runtime.GC()
		runtime.ReadMemStats(&after)
	}()
	player := replay.Agent{Tapes: []*record.Tape{tape}}
	if report, err := player.Run(t.Context(), in, out, io.Discard); err != nil || report.Received != calls+1 {
		t.Errorf("got %v with the report %+v", err, report)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > calls*size/4 {
		t.Errorf("%d bytes more are in use after %d of them came", grown, calls*size)
	}
}

// An agent that names its directory in the answer to initialize and sends each update under
// a second session id, with a client that escapes slashes: in another directory all of it
// has that directory, and nothing comes before the prompt that it belongs to.
func TestOddAgentElsewhere(t *testing.T) {
	prompts := []string{
		`{"jsonrpc":"2.0","id":2,"method":"session\/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a\/b"}]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session\/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"c"}]}}`,
	}
	client := func(dir string) []string {
		return append([]string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
			`{"jsonrpc":"2.0","id":1,"method":"session\/new","params":{"cwd":"` + strings.ReplaceAll(dir, "/", `\/`) + `","mcpServers":[]}}`,
		}, prompts...)
	}
	agent := func(dir string) [][]string {
		turn := func(id, text string) []string {
			update := `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + " " + dir + `/x"}}}`
			return []string{
				`{"jsonrpc":"2.0","method":"session/update","params":` + update + `}`,
				`{"jsonrpc":"2.0","method":"session/update","params":` + strings.Replace(update, `"s"`, `"second"`, 1) + `}`,
				`{"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"end_turn"}}`,
			}
		}
		return [][]string{
			{`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"_meta":{"workingDirectory":"` + dir + `"}}}`},
			{`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`},
			turn("2", "first"), turn("3", "again"),
		}
	}
	recorded := `! {"acptap":1,"cwd":"/home/rec/work"}` + "\n"
	for i, line := range client("/home/rec/work") {
		recorded += "c " + line + "\na " + strings.Join(agent("/home/rec/work")[i], "\na ") + "\n"
	}
	const cwd = "/home/someone/else"
	for n := 1; n <= 4; n++ { // how much the client says
		var out bytes.Buffer
		a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, recorded)}, Cwd: cwd, Partial: true}
		report, err := a.Run(t.Context(), strings.NewReader(strings.Join(client(cwd)[:n], "\n")+"\n"), &out, io.Discard)
		if err != nil {
			t.Errorf("%v\n%s", err, &report)
		}
		if d := cmp.Diff(strings.Split(strings.TrimSpace(out.String()), "\n"), slices.Concat(agent(cwd)[:n]...)); d != "" {
			t.Errorf("after %d messages of the client: -got +want:\n%s", n, d)
		}
	}
}
