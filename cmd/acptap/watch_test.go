package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A client of a stalling-agent behind a proxy.
type watchedClient struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bufio.Reader
}

// startWatched starts a proxy with flags, and makes two sessions.
func startWatched(t *testing.T, flags ...string) *watchedClient {
	t.Helper()
	c := &watchedClient{t: t, cmd: exec.CommandContext(t.Context(), "acptap", append(append([]string{"proxy"}, flags...), "--", "stalling-agent")...)}
	stdin, err1 := c.cmd.StdinPipe()
	stdout, err2 := c.cmd.StdoutPipe()
	stderr, err3 := c.cmd.StderrPipe()
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.in, c.out, c.stderr = stdin, bufio.NewReader(stdout), bufio.NewReader(stderr)
	c.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	for range 2 {
		c.ask(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	}
	return c
}

// say sends a line.
func (c *watchedClient) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a line, and returns the next one that comes.
func (c *watchedClient) ask(format string, args ...any) string {
	c.t.Helper()
	c.say(format, args...)
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

func (c *watchedClient) prompt(session string) string {
	c.t.Helper()
	return c.ask(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[]}}`, session)
}

// stall returns the next line about a stall, without its duration. It skips what is said of the
// set-up, which takes long on a slow machine.
func (c *watchedClient) stall() string {
	c.t.Helper()
	for {
		line, err := c.stderr.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%q, %v", line, err)
		}
		if !strings.Contains(line, "set-up ") {
			return lastsLong.ReplaceAllString(line, "silent: ")
		}
	}
}

// lastsLong finds how long something has been silent. It may be seen late.
var lastsLong = regexp.MustCompile(`silent for [^:]+: `)

// end closes stdin, and returns what is left of stdout and stderr.
func (c *watchedClient) end() (stdout, stderr string) {
	c.t.Helper()
	c.in.Close()
	out, err1 := io.ReadAll(c.out)
	err, err2 := io.ReadAll(c.stderr)
	if err3 := c.cmd.Wait(); err1 != nil || err2 != nil || err3 != nil {
		c.t.Fatal(err1, err2, err3)
	}
	return string(out), string(err)
}

// An agent that stalls is told of in one line, not before its time, and nothing else
// reaches the client.
func TestProxyWatch(t *testing.T) {
	t.Setenv("ACPTAP_STORE", t.TempDir())
	c := startWatched(t, "--watch", "2s")
	began := time.Now()
	got := c.prompt("s-0")
	line := c.stall()
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("after %v: %q", took, line)
	}
	if want := "acptap: watch: silent: turn 1, after agent_message_chunk (frame 8)\n"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
	got += c.ask(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-0"}}`)
	stdout, stderr := c.end()
	want := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-0","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"well"}}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}` + "\n"
	if got += stdout; got != want || stderr != "" {
		t.Errorf("got\n%swant\n%sand on stderr %q", got, want, stderr)
	}
}

// While a permission waits nothing is silent, and a user who is asked is not told of: a
// turn that waits from later on is.
func TestProxyWatchPermission(t *testing.T) {
	t.Setenv("ACPTAP_STORE", t.TempDir())
	c := startWatched(t, "--watch", "2s")
	c.prompt("s-1")
	c.prompt("s-0")
	if line, want := c.stall(), "acptap: watch: silent: turn 1, after agent_message_chunk (frame 11)\n"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
	if _, stderr := c.end(); stderr != "" {
		t.Errorf("got %q", stderr)
	}
}

// A server that the client named and the agent does not start is reported before the first
// turn of its session and after it, whatever happens in other sessions.
func TestWatchServers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an interrupt cannot be sent")
	}
	t.Setenv("ACPTAP_STORE", t.TempDir())
	cmd := exec.CommandContext(t.Context(), "acptap", "watch", "--json", "--after", "3s") // a server has a second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(out)
	next := func(session, text string) {
		t.Helper()
		for {
			var l watchLine
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
			if l.Kind != "server" {
				continue
			}
			if l.Text != text || l.Session != session {
				t.Errorf("got %q in %s, want %q in %s", l.Text, l.Session, text, session)
			}
			return
		}
	}
	c := startWatched(t, "--mcp")
	for _, server := range []string{"git", "db"} {
		c.ask(`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":%q,"command":"no-such-server","args":[],"env":[]}]}}`, server)
	}
	next("s-2", "server git: not started yet (may begin at the first prompt)")
	next("s-3", "server db: not started yet (may begin at the first prompt)")
	for session, server := range []string{"git", "db"} {
		id := fmt.Sprintf("s-%d", session+2)
		c.prompt(id)
		c.ask(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
		next(id, "server "+server+": never started, though a turn has ended")
	}
	c.end()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Two proxies are watched from their beginning to their end, of which one is killed.
func TestWatchStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an interrupt cannot be sent")
	}
	t.Setenv("ACPTAP_STORE", t.TempDir())
	cmd := exec.CommandContext(t.Context(), "acptap", "watch", "--json", "--after", "2s")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(out)
	line := func() (l watchLine) {
		t.Helper()
		for l.Event == "" || l.Kind == "setup" { // which takes long on a slow machine
			l = watchLine{}
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	next := func(want string) {
		t.Helper()
		l := line()
		if got := fmt.Sprintf("%s %s %s %s", l.Agent, l.Event, l.Kind, lastsLong.ReplaceAllString(l.Text, "silent: ")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	one := startWatched(t, "--name", "one")
	next("one watching  watching")
	two := startWatched(t, "--name", "two")
	next("two watching  watching")
	one.prompt("s-0")
	next("one hangs silent silent: turn 1, after agent_message_chunk (frame 8)")
	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if l := line(); l.Event != "over" || !strings.HasSuffix(l.Text, ", then the tape ended") {
		t.Errorf("got %+v", l)
	}
	next("one ended  ended: ⚡ recording cut off")
	two.end()
	next("two ended  ended")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
