package relay

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// maxFirstEvent bounds the bytes that wait for the end of the first event.
const maxFirstEvent = 64 << 10

// A firstEvent waits for the first event of a stream. In MCP of 2024-11-05 that is
// named endpoint, and says where the client's messages go.
type firstEvent struct {
	held []byte
}

// await takes the next bytes of the stream, and makes ready what can go on.
func (b *responseBody) await(p []byte, err error) {
	f := b.first
	f.held = append(f.held, p...)
	for b.first != nil {
		n := blockEnd(f.held)
		if n == 0 {
			break
		}
		block := f.held[:n]
		f.held = f.held[n:]
		event, data, fields := fieldsOf(block)
		if event == "endpoint" {
			b.endpoint(block, data)
		} else {
			b.pass(block, nil)
		}
		if fields {
			b.first = nil
		}
	}
	if b.first == nil || err != nil || len(f.held) > maxFirstEvent {
		b.first = nil
		b.pass(f.held, err)
	}
}

// pass makes bytes ready that go on as they came.
func (b *responseBody) pass(p []byte, err error) {
	n, err := b.passed(p, wire.Wire, err)
	b.ready, b.err = append(b.ready, p[:n]...), err
}

// endpoint makes the endpoint event ready, as the client can use it.
func (b *responseBody) endpoint(block []byte, data string) {
	x := b.x
	if u, err := x.in.URL.Parse(data); err == nil && (u.Host == "" || origin(u) == origin(x.relay.Upstream)) {
		x.endpoint = true
		x.relay.connections.settle(x.connection, key{endpoint, (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).RequestURI()})
	}
	here := x.relay.forClient(data)
	if here == data {
		b.pass(block, nil)
		return
	}
	i := max(bytes.Index(block, []byte("data:")), 0)
	changed := append(block[:i:i], bytes.Replace(block[i:], []byte(data), []byte(here), 1)...)
	x.down.write(wire.Withheld, block)
	if !x.down.write(wire.Rewritten, changed) {
		b.err = errOver
		return
	}
	b.ready = append(b.ready, changed...)
}

// blockEnd returns the length of the first block of an event stream, its blank line
// included; 0 if it has not ended.
func blockEnd(b []byte) int {
	for start := 0; ; {
		n := bytes.IndexAny(b[start:], "\r\n")
		if n < 0 {
			return 0
		}
		end := start + n + 1
		if b[end-1] == '\r' && end < len(b) && b[end] == '\n' {
			end++
		}
		if n == 0 {
			return end
		}
		start = end
	}
}

// fieldsOf returns the name and the data of an event, and whether the block has fields
// at all: comments are none.
func fieldsOf(block []byte) (event, data string, fields bool) {
	for line := range strings.FieldsFuncSeq(string(block), func(c rune) bool { return c == '\r' || c == '\n' }) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			event, fields = value, true
		case "data":
			data, fields = value, true
		}
	}
	return event, data, fields
}
