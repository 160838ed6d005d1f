package proxy

import (
	"bytes"
	"os"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// The cost of passing a chunk of the agent's output, without recording it: a line of 357
// bytes, and 64 KiB of such lines.
func BenchmarkSink(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	null.Fd() // blocking, as all that a proxy writes to
	line := append(bytes.Repeat([]byte("x"), 356), '\n')
	for _, chunk := range []struct {
		name string
		text []byte
	}{{"line", line}, {"64KiB", bytes.Repeat(line, 184)}} {
		for _, way := range []struct {
			name  string
			chain []Interceptor
		}{
			{"tap", nil},
			{"uninterested", []Interceptor{blind{}}},
			{"one", []Interceptor{passing{}}},
			{"three", []Interceptor{passing{}, passing{}, passing{}}},
		} {
			b.Run(chunk.name+"/"+way.name, func(b *testing.B) {
				gate := &recorderGate{}
				var to [wire.Directions]*destination
				for dir := range to {
					to[dir] = newDestination(null)
				}
				var s sink = tap{dir: wire.AgentToClient, gate: gate, destination: to[wire.AgentToClient]}
				if way.chain != nil {
					p := newPipeline(way.chain, gate, to)
					p.start()
					s = newFrameReader(p, wire.AgentToClient)
				}
				b.SetBytes(int64(len(chunk.text)))
				b.ReportAllocs()
				for b.Loop() {
					s.take(chunk.text)
				}
			})
		}
	}
}

type passing struct{}

func (passing) Start(Handle)                                          {}
func (passing) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame { return append(out, f) }
func (passing) Held() []wire.Frame                                    { return nil }
func (passing) End(_ wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	return out, nil
}

type blind struct{ passing }

func (blind) Wants(wire.Direction) bool { return false }
