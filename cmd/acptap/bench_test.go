package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// These benchmarks measure acptap as users run it: as whole processes that record everything.
// A bare relay runs alternately with it, for comparison.

// A bench holds the programs.
type bench struct{ dir, acptap, proxy, relay, agent string }

// newBench builds the programs, unless an earlier benchmark has. They are next to the
// commands of the scripts, in a directory that testscript.Main removes.
func newBench(b *testing.B) bench {
	b.Helper()
	if runtime.GOOS == "windows" {
		b.Skip("measured on Unix")
	}
	command, err := exec.LookPath("loud-agent")
	if err != nil {
		b.Fatal(err)
	}
	p := bench{dir: filepath.Join(filepath.Dir(filepath.Dir(command)), "bench")}
	p.proxy = p.build(b, "acptap-proxy", "./acptap-proxy")
	p.acptap, p.relay, p.agent = p.build(b, "acptap", "."), p.build(b, "relay", "./testdata/bench/relay"), p.build(b, "agent", "./testdata/bench/agent")
	return p
}

// build builds a program that is not there yet.
func (p bench) build(b *testing.B, name, pkg string) string {
	b.Helper()
	path := filepath.Join(p.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the help topic speed says
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	return path
}

// less returns n, or a twentieth of it in a short run, which asks only whether the benchmark
// works.
func less(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// ways returns the two ways to the agent. acptap records into store.
func (p bench) ways(store string) [2][]string {
	return [2][]string{{p.relay, p.agent}, {p.acptap, "proxy", "--store", store, "--", p.agent}}
}

// A peer is a running way to the agent.
type peer struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(b *testing.B, command []string) *peer {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return &peer{b: b, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// ask sends a line and reads until it comes back. It returns what came before.
func (p *peer) ask(line []byte, before io.Writer) {
	p.b.Helper()
	go p.in.Write(line) // more than a pipe holds
	for {
		got, err := p.out.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			p.rest(line, len(got))
			return
		}
		if err != nil {
			p.b.Fatal(err)
		}
		if bytes.Equal(got, line) {
			return
		}
		before.Write(got)
	}
}

// rest reads the rest of a line that is larger than the buffer.
func (p *peer) rest(line []byte, got int) {
	p.b.Helper()
	if _, err := io.CopyN(io.Discard, p.out, int64(len(line)-got)); err != nil {
		p.b.Fatal(err)
	}
}

// peak returns the highest resident memory so far, in MiB; 0 where the system
// does not tell.
func (p *peer) peak() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var kB float64
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(after, &kB)
	return kB / 1024
}

// stop ends the process, and returns how long that took and the CPU time of the
// process without the agent's.
func (p *peer) stop() (took, cpu time.Duration) {
	p.b.Helper()
	began := time.Now()
	p.in.Close()
	io.Copy(io.Discard, p.out)
	if err := p.cmd.Wait(); err != nil {
		p.b.Fatal(err)
	}
	return time.Since(began), p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// One line to the agent and back, at the median.
func BenchmarkRoundTrip(b *testing.B) {
	progs := newBench(b)
	for _, size := range []int{200, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":"%s"}`+"\n", strings.Repeat("x", size-66))
			var peers [2]*peer
			for i, way := range progs.ways(b.TempDir()) {
				peers[i] = start(b, way)
				for range 100 {
					peers[i].ask(line, io.Discard)
				}
			}
			var took [2][]time.Duration
			for b.Loop() {
				for i, p := range peers {
					began := time.Now()
					p.ask(line, io.Discard)
					took[i] = append(took[i], time.Since(began))
				}
			}
			for _, p := range peers {
				p.stop()
			}
			relay, acptap := median(took[0]), median(took[1])
			b.ReportMetric(float64(relay.Nanoseconds())/1e3, "relay-µs")
			b.ReportMetric(float64(acptap.Nanoseconds())/1e3, "acptap-µs")
			b.ReportMetric(float64(acptap)/float64(relay), "ratio")
		})
	}
}

// A line every 2 ms to the agent and back, while other processes keep the processors busy: the
// longest of 5,000 round trips.
func BenchmarkBusy(b *testing.B) {
	lines := less(5_000)
	progs := newBench(b)
	for range 8 * runtime.NumCPU() {
		busy := exec.Command("sh", "-c", "while kill -0 $PPID; do :; done")
		if err := busy.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			busy.Process.Kill()
			busy.Wait()
		})
	}
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"_busy","params":"%s"}`+"\n", strings.Repeat("x", 3<<10))
	var took [2][]time.Duration
	for b.Loop() {
		var peers [2]*peer
		for i, way := range progs.ways(b.TempDir()) {
			peers[i] = start(b, way)
		}
		pace := time.NewTicker(2 * time.Millisecond)
		for range lines {
			<-pace.C
			for i, p := range peers {
				began := time.Now()
				p.ask(line, io.Discard)
				took[i] = append(took[i], time.Since(began))
			}
		}
		pace.Stop()
		for _, p := range peers {
			p.stop()
		}
	}
	b.ReportMetric(float64(slices.Max(took[0]).Microseconds())/1e3, "relay-max-ms")
	b.ReportMetric(float64(slices.Max(took[1]).Microseconds())/1e3, "acptap-max-ms")
}

// 200,000 notifications at full speed: the rate, the time to exit, the CPU time including
// sealing, the memory, and the tape's size on disk.
func BenchmarkFlood(b *testing.B) {
	frames := less(200_000)
	progs := newBench(b)
	line := fmt.Appendf(nil, "flood %d\n", frames)
	var took [2][]time.Duration
	var exit, cpu []time.Duration
	var peak, disk float64
	for b.Loop() {
		store := filepath.Join(b.TempDir(), "store")
		var stream bytes.Buffer
		for i, way := range progs.ways(store) {
			stream.Reset()
			p := start(b, way)
			p.ask([]byte("{}\n"), io.Discard)
			began := time.Now()
			p.ask(line, &stream)
			took[i] = append(took[i], time.Since(began))
			high := p.peak()
			end, used := p.stop()
			if i == 1 {
				peak, exit, cpu = max(peak, high), append(exit, end), append(cpu, used)
			}
		}
		seal := exec.Command(progs.acptap, "doctor", "--recover", "--store", store)
		if out, err := seal.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		agent := exec.Command(progs.agent)
		agent.Stdin = bytes.NewReader(line)
		if err := agent.Run(); err != nil {
			b.Fatal(err)
		}
		// The proxy has waited for the agent, so its figure holds the agent's.
		cpu[len(cpu)-1] += seal.ProcessState.UserTime() + seal.ProcessState.SystemTime() - agent.ProcessState.UserTime() - agent.ProcessState.SystemTime()
		disk = diskRatio(b, store, stream.Bytes())
	}
	relay, acptap := median(took[0]), median(took[1])
	b.ReportMetric(float64(frames)/relay.Seconds(), "relay-frames/s")
	b.ReportMetric(float64(frames)/acptap.Seconds(), "acptap-frames/s")
	b.ReportMetric(float64(relay)/float64(acptap), "ratio")
	b.ReportMetric(float64(median(exit).Microseconds())/1e3, "exit-ms")
	b.ReportMetric(float64(median(cpu).Nanoseconds())/float64(frames)/1e3, "cpu-µs/frame")
	b.ReportMetric(peak, "peak-MiB")
	b.ReportMetric(disk, "disk/zstd3")
}

// The same notifications for a session that the shim watches but need not change, compared
// with the proxy without --sessions.
func BenchmarkSessions(b *testing.B) {
	floodBeside(b, "sessions", []string{"--sessions=off"}, []string{"--sessions"})
}

// The same notifications with --watch, compared with the proxy without it.
func BenchmarkWatch(b *testing.B) {
	floodBeside(b, "watch", nil, []string{"--watch", "30s"})
}

// The same notifications with --mcp, which examines what the client sends, compared with the
// proxy without it.
func BenchmarkNested(b *testing.B) {
	floodBeside(b, "nested", nil, []string{"--mcp"})
}

// floodBeside compares the rate of a session's notifications under some flags of the proxy
// with the rate under others.
func floodBeside(b *testing.B, name string, without, with []string) {
	b.Helper()
	frames := less(200_000)
	progs := newBench(b)
	var took [2][]time.Duration
	for b.Loop() {
		for i, flags := range [][]string{without, with} {
			command := append([]string{progs.acptap, "proxy", "--store", filepath.Join(b.TempDir(), "store")}, flags...)
			p := start(b, append(command, "--", progs.agent))
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
				`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
			} {
				p.ask([]byte(line+"\n"), io.Discard)
			}
			began := time.Now()
			p.ask(fmt.Appendf(nil, "flood %d\n", frames), io.Discard)
			took[i] = append(took[i], time.Since(began))
			p.stop()
		}
	}
	off, on := median(took[0]), median(took[1])
	b.ReportMetric(float64(frames)/off.Seconds(), "off-frames/s")
	b.ReportMetric(float64(frames)/on.Seconds(), name+"-frames/s")
	b.ReportMetric(float64(on)/float64(off), "ratio")
}

// The same notifications through chains of interceptors that change nothing: none,
// one that wants to see no frame, one that sees every frame, and three of them.
func BenchmarkChain(b *testing.B) {
	frames := less(200_000)
	progs := newBench(b)
	chain := progs.build(b, "chain", "./testdata/bench/chain")
	ways := []string{"none", "idle", "looking", "looking,looking,looking"}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			p := start(b, []string{chain, way, filepath.Join(b.TempDir(), "store"), progs.agent})
			p.ask([]byte("{}\n"), io.Discard)
			began := time.Now()
			p.ask(fmt.Appendf(nil, "flood %d\n", frames), io.Discard)
			took[i] = append(took[i], time.Since(began))
			p.stop()
		}
	}
	none := median(took[0])
	b.ReportMetric(float64(frames)/none.Seconds(), "frames/s")
	for i, name := range []string{"idle", "one", "three"} {
		b.ReportMetric(float64(none)/float64(median(took[i+1])), name+"-rate")
	}
}

// diskRatio compares the size of the store with zstd -3 of the whole stream.
func diskRatio(b *testing.B, store string, stream []byte) float64 {
	b.Helper()
	var size int64
	err := filepath.WalkDir(store, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(3)))
	if err != nil {
		b.Fatal(err)
	}
	return float64(size) / float64(len(enc.EncodeAll(stream, nil)))
}

// Peak memory while a million frames, or frames of 64 MiB, pass.
func BenchmarkMemory(b *testing.B) {
	progs := newBench(b)
	many := less(1_000_000)
	for _, bm := range []struct {
		name string
		line []byte
	}{
		{"1000 frames", []byte("flood 1000\n")},
		{fmt.Sprint(many, " frames"), fmt.Appendf(nil, "flood %d\n", many)},
		{"64 MiB", append(bytes.Repeat([]byte("x"), 64<<20), '\n')},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var peak float64
			for b.Loop() {
				p := start(b, progs.ways(b.TempDir())[1])
				p.ask(bm.line, io.Discard)
				peak = max(peak, p.peak())
				p.stop()
			}
			b.ReportMetric(peak, "peak-MiB")
		})
	}
}

// From the start of the process to the first line back, with an empty store and
// with one of ten thousand tapes, and the memory that it has taken by then; of
// acptap proxy and of acptap-proxy.
func BenchmarkStart(b *testing.B) {
	progs := newBench(b)
	for _, tapes := range []int{0, less(10_000)} {
		b.Run(fmt.Sprintf("%d tapes", tapes), func(b *testing.B) {
			store := filepath.Join(b.TempDir(), "store")
			fillStore(b, progs, store, tapes)
			ways := progs.ways(store)
			all := append(ways[:], []string{progs.proxy, "--store", store, "--", progs.agent})
			took, peak := make([][]time.Duration, len(all)), make([]float64, len(all))
			for b.Loop() {
				for i, way := range all {
					began := time.Now()
					p := start(b, way)
					p.ask([]byte("{}\n"), io.Discard)
					took[i] = append(took[i], time.Since(began))
					peak[i] = max(peak[i], p.peak())
					p.stop()
				}
			}
			relay := median(took[0])
			for i, name := range []string{"relay", "acptap", "acptap-proxy"} {
				b.ReportMetric(float64(median(took[i]).Microseconds())/1e3, name+"-ms")
				b.ReportMetric(float64(median(took[i]))/float64(relay), name+"-ratio")
				b.ReportMetric(peak[i], name+"-MiB")
			}
		})
	}
}

// From session/new to its answer, which an agent gives when its MCP servers have answered
// it, without and with --mcp; and the CPU time of all processes together until their end.
func BenchmarkNestedStart(b *testing.B) {
	progs := newBench(b)
	agent := progs.build(b, "servers", "./testdata/bench/servers")
	for _, servers := range []int{1, 4} {
		b.Run(fmt.Sprint(servers), func(b *testing.B) {
			entry := fmt.Sprintf(`{"name":"s","command":%q,"args":["server"],"env":[]}`, agent)
			setup := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[%s]}}`+"\n", strings.Join(slices.Repeat([]string{entry}, servers), ","))
			answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}` + "\n")
			store := b.TempDir()
			var took, cpu [2][]time.Duration
			for b.Loop() {
				for i, flag := range []string{"--mcp=off", "--mcp"} {
					p := start(b, []string{progs.acptap, "proxy", "--store", store, flag, "--", agent})
					var began time.Time
					for _, line := range [][]byte{[]byte("{}\n"), setup} { // to the first it has started
						began = time.Now()
						p.in.Write(line)
						if got, err := p.out.ReadBytes('\n'); err != nil || !bytes.Equal(got, answer) {
							b.Fatalf("%s, %v", got, err)
						}
					}
					took[i] = append(took[i], time.Since(began))
					_, used := p.stop()
					cpu[i] = append(cpu[i], used)
				}
			}
			off, on := median(took[0]), median(took[1])
			b.ReportMetric(float64(off.Microseconds())/1e3, "off-ms")
			b.ReportMetric(float64(on.Microseconds())/1e3, "mcp-ms")
			b.ReportMetric(float64((on-off).Microseconds())/1e3, "more-ms")
			b.ReportMetric(float64((median(cpu[1])-median(cpu[0])).Microseconds())/1e3/float64(servers), "more-cpu-ms/server")
		})
	}
}

// fillStore puts copies of one tape into a store. The catalogue learns of them
// by itself, or not: a proxy that starts does not ask it.
func fillStore(b *testing.B, progs bench, store string, tapes int) {
	b.Helper()
	if tapes == 0 {
		return
	}
	p := start(b, progs.ways(store)[1])
	p.ask([]byte("flood 10\n"), io.Discard)
	p.stop()
	// A proxy that ends on a busy machine may leave its tape to the next.
	if out, err := exec.Command(progs.acptap, "doctor", "--recover", "--store", store).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(store, "tapes", "*.db"))
	if err != nil || len(files) != 1 {
		b.Fatalf("%v, %v", files, err)
	}
	for i := range tapes {
		name := fmt.Sprintf("20200101T%06d-aaaaaa.db", i)
		if err := os.Link(files[0], filepath.Join(store, "tapes", name)); err != nil {
			b.Fatal(err)
		}
	}
}
