package proxy_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// between are the ways to an agent: whole processes on both sides, recording
// nothing. What acptap is measured by stands in cmd/acptap.
var between = []struct {
	name    string
	command func(agent []string) []string
}{
	{"direct", func(agent []string) []string { return agent }},
	{"proxy", func(agent []string) []string { return role("proxy", agent...) }},
	{"uninterested", func(agent []string) []string { return role("intercept", append([]string{"blind"}, agent...)...) }},
	{"other direction", func(agent []string) []string { return role("intercept", append([]string{"client"}, agent...)...) }},
	{"intercepted", func(agent []string) []string { return role("intercept", append([]string{"idle"}, agent...)...) }},
	{"intercepted by three", func(agent []string) []string {
		return role("intercept", append([]string{"idle,idle,idle"}, agent...)...)
	}},
}

func spawn(b *testing.B, command []string) (io.WriteCloser, io.Reader) {
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
	b.Cleanup(func() {
		cmd.Process.Kill() // those behind it see their streams end
		cmd.Wait()
	})
	for _, end := range []any{in, out} {
		end.(*os.File).Fd() // blocking, so that our side adds no delay of its own
	}
	return in, out
}

// A line to an agent that echoes, and back.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		for _, way := range between {
			b.Run(way.name+"/"+strconv.Itoa(size), func(b *testing.B) {
				in, out := spawn(b, way.command(role("echo")))
				line := append(bytes.Repeat([]byte("x"), size-1), '\n')
				back := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := in.Write(line); err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(out, back); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Lines of 357 bytes, each written alone, as from an agent that streams.
func BenchmarkThroughput(b *testing.B) {
	const size = 357
	for _, way := range between {
		b.Run(way.name, func(b *testing.B) {
			_, out := spawn(b, way.command(role("stream", strconv.Itoa(size))))
			r := bufio.NewReaderSize(out, 1<<20)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Discard(size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
