package relay

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// maxFirstEvent limits the bytes held until the first event ends.
const maxFirstEvent = 64 << 10

// A firstEvent holds the first event of a stream until it ends. In MCP 2024-11-05 that
// event is named endpoint, and says where the client must send its messages.
type firstEvent struct {
	held []byte
}

// await reads the next bytes of the stream, and sets ready once they can be passed on.
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

// pass sets ready to unchanged bytes.
func (b *responseBody) pass(p []byte, err error) {
	n, err := b.passed(p, err)
	b.ready, b.err = append(b.ready, p[:n]...), err
}

// endpoint sets ready to the endpoint event, with a URL that the client can reach.
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

// blockEnd returns the length of an event stream's first block including its blank line, or
// 0 if the block has not ended.
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

// fieldsOf returns an event's name and data, and whether the block has any fields:
// comments are not fields.
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
