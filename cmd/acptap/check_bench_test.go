package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A tape of a million frames, of turns with chunks and tool calls, is judged by all
// rules: the CPU time of the process, and its peak memory.
func BenchmarkCheckTape(b *testing.B) {
	progs := newBench(b)
	store := b.TempDir()
	frames := less(1_000_000)
	importTurns(b, progs, store, frames)
	var cpu time.Duration
	var peak float64
	for b.Loop() {
		used, high := progs.read(b, "check", "--store", store)
		cpu, peak = cpu+used, max(peak, high)
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(frames)*float64(b.N)/cpu.Seconds(), "frames/s")
	b.ReportMetric(peak, "peak-MiB")
}

// BenchmarkReadMemory measures the peak memory of commands that read one tape of a million
// frames, or compare two.
func BenchmarkReadMemory(b *testing.B) {
	progs := newBench(b)
	store := b.TempDir()
	for range 2 {
		importTurns(b, progs, store, less(1_000_000))
	}
	for _, args := range []string{
		"summary last", "stats last", "check last", "show last", "show --chat last", "show --chat --json last", "search nothing",
		"report -o - last", "export last", "export --format otlp last", "export --format perfetto last", "diff last~1 last", "diff --exact last~1 last",
	} {
		b.Run(args, func(b *testing.B) {
			var peak float64
			for b.Loop() {
				_, high := progs.read(b, append(strings.Fields(args), "--store", store)...)
				peak = max(peak, high)
			}
			b.ReportMetric(peak, "peak-MiB")
		})
	}
}

// read runs a command that reads tapes. It returns its CPU time and, in MiB, its peak memory.
func (p bench) read(b *testing.B, args ...string) (cpu time.Duration, high float64) {
	b.Helper()
	cmd := exec.Command(p.acptap, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	running := peer{b: b, cmd: cmd}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, out)
	}()
	for open := true; open; {
		select {
		case <-ended:
			open = false
		case <-time.After(10 * time.Millisecond):
			high = max(high, running.peak())
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing was found
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), high
}

// importTurns imports a tape with that many frames into a store.
func importTurns(b *testing.B, progs bench, store string, frames int) {
	b.Helper()
	cmd := exec.Command(progs.acptap, "import", "--store", store, "-")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(in)
	n := 0
	say := func(dir, format string, args ...any) {
		if n++; n <= frames {
			fmt.Fprintf(w, `{"seq":%d,"at":%.3f,"dir":%q,"frame":{"jsonrpc":"2.0",`+format+"}}\n", append([]any{n, float64(n) / 1000, dir}, args...)...)
		}
	}
	update := func(format string, args ...any) {
		say("a2c", `"method":"session/update","params":{"sessionId":"s1","update":{`+format+`}}`, args...)
	}
	fmt.Fprintln(w, `{"acptap":1,"started":"2026-01-02T15:04:05Z"}`)
	say("c2a", `"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}`)
	say("a2c", `"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[],"agentInfo":{"name":"agent","version":"1"}}`)
	say("c2a", `"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}`)
	say("a2c", `"id":1,"result":{"sessionId":"s1"}`)
	for turn := 2; n < frames; turn++ {
		say("c2a", `"id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Say why the mean is wrong, and mend it."}]}`, turn)
		for range 40 {
			update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" The loop begins at 1 and skips the first value, so that"}`)
		}
		for call := range 3 {
			update(`"sessionUpdate":"tool_call","toolCallId":"c%d-%d","title":"Read mean.go","kind":"read","status":"pending","locations":[{"path":"/w/mean.go"}]`, turn, call)
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c%d-%d","status":"completed","content":[{"type":"content","content":{"type":"text","text":"package stats"}}]`, turn, call)
		}
		say("a2c", `"id":%d,"result":{"stopReason":"end_turn"}`, turn)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}
