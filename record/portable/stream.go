package portable

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A line of a stream, which is an HTTP exchange or a WebSocket, says which one:
//
//	{"dir":"c2a","stream":3,"http":{"method":"POST","target":"/mcp","headers":[{"name":"Content-Type","value":"application/json"}]}}
//	{"dir":"c2a","stream":3,"frame":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
//	{"dir":"c2a","stream":3,"ended":{"by":"client"}}
//	{"dir":"a2c","stream":3,"http":{"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}]}}
//	{"dir":"a2c","stream":3,"lead":"event: message\nid: 7\ndata: ","frame":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}
//	{"dir":"a2c","stream":3,"lead":"\n\n","ended":{"by":"server"}}
//
// lead has the framing before the bytes: text, or {"base64":"…"} if that is not UTF-8, as
// in WebSockets. A file written by hand may instead have event, the id of a server-sent
// event. derived says that the bytes are made from the lead, which holds what crossed the
// wire; redelivered that they came before, in an event with the same id; and "kind":"body"
// that they were not declared as JSON.
//
// A message that is longer than wire.MaxChecked and came in several fragments loses its
// lead and keeps only its bytes.

// A Framing is what a line says about its stream and framing.
type Framing struct {
	Stream      uint64 // 0: the connection's own bytes
	Lead        []byte
	Derived     bool
	Redelivered bool
	Body        bool // the frame is of the kind wire.Body
}

// framingMembers are the members of a line that parseFraming reads.
var framingMembers = []string{"stream", "lead", "event", "derived", "redelivered", "kind"}

func parseFraming(g wire.Value) (Framing, error) {
	var f Framing
	stream := g.Get("stream")
	if !stream.Exists() {
		for _, name := range framingMembers {
			if name != "kind" && g.Get(name).Exists() {
				return f, fmt.Errorf(`%q needs "stream", the number of an HTTP exchange or WebSocket`, name)
			}
		}
		return f, nil
	}
	n, err := strconv.ParseUint(stream.Raw(), 10, 64)
	if err != nil || n == 0 || n > MaxSeq {
		return f, fmt.Errorf(`"stream": %s is no number of a stream; they begin with 1`, stream.Raw())
	}
	f.Stream = n
	if f.Lead, err = parseLead(g.Get("lead"), g.Get("event")); err != nil {
		return f, err
	}
	f.Derived, f.Redelivered = g.Get("derived").Bool(), g.Get("redelivered").Bool()
	switch kind := g.Get("kind"); {
	case kind.Text() == wire.Body.String():
		f.Body = true
	case kind.Exists():
		return f, fmt.Errorf(`"kind": there is only %q; what else a frame is shows in its bytes`, wire.Body)
	}
	return f, nil
}

func parseLead(lead, event wire.Value) ([]byte, error) {
	encoded := lead.Get("base64")
	switch {
	case lead.Exists() && event.Exists():
		return nil, errors.New(`"lead" and "event": the lead has the id of the event`)
	case lead.IsString():
		return []byte(lead.Text()), nil
	case encoded.IsString():
		b, err := base64.StdEncoding.DecodeString(encoded.Text())
		if err != nil {
			return nil, fmt.Errorf("lead: base64: %w", err)
		}
		return b, nil
	case lead.Exists():
		return nil, errors.New(`"lead" is text or {"base64":"…"}`)
	case event.Exists():
		if strings.ContainsAny(event.String(), "\r\n\x00") {
			return nil, errors.New(`"event": an id is one line`)
		}
		return fmt.Appendf(nil, "id: %s\ndata: ", event.String()), nil
	}
	return nil, nil
}

// appendFraming appends the members for a framing.
func appendFraming(b []byte, f Framing) []byte {
	if f.Stream == 0 {
		return b
	}
	b = strconv.AppendUint(append(b, `,"stream":`...), f.Stream, 10)
	switch {
	case len(f.Lead) == 0:
	case utf8.Valid(f.Lead):
		b = append(b, `,"lead":`...)
		b = termtext.AppendQuoted(b, f.Lead)
	default:
		b = append(b, `,"lead":{"base64":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, f.Lead), `"}`...)
	}
	if f.Derived {
		b = append(b, `,"derived":true`...)
	}
	if f.Redelivered {
		b = append(b, `,"redelivered":true`...)
	}
	if f.Body {
		b = append(b, `,"kind":"body"`...)
	}
	return b
}

// numberMark makes sure that a mark of a stream names its stream: by "stream", in the mark,
// or both.
func numberMark(m *wire.Marked, stream *uint64) error {
	var within *uint64
	switch {
	case m.HTTP != nil:
		within = &m.HTTP.Stream
	case m.End != nil:
		within = &m.End.Stream
	case m.SSE != nil || m.Close != nil || m.Framing != 0:
		within = stream
	case *stream != 0:
		return errors.New(`"stream": such a mark is of none`)
	default:
		return nil
	}
	if *stream == 0 {
		*stream = *within
	}
	if *within == 0 {
		*within = *stream
	}
	switch {
	case *stream == 0 || *stream > MaxSeq:
		return errors.New(`"stream" is missing, the number of an HTTP exchange or WebSocket`)
	case *within != *stream:
		return fmt.Errorf(`"stream": %d and %d in one line`, *stream, *within)
	}
	return nil
}
