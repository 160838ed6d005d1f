// Package wire reads and writes what crosses the pipes: lines of bytes, and the JSON-RPC
// 2.0 messages in them. It cuts a byte stream into frames, however it is chunked
// (Splitter; Decoder for HTTP and WebSocket), checks whether a frame is JSON and reads
// its envelope (Scan), reads the JSON inside (Value, Reader), and changes parts of it
// while all other bytes stay as they are (Set, Delete).
//
// Each of these is one iterative pass: deep nesting cannot overflow the stack, and no
// input can make one fail or run forever. Package wire knows nothing about the meaning of
// methods, processes or storage. It reads only part of a frame longer than MaxChecked.
package wire

import (
	"slices"
	"time"
)

// A Frame is one line as it crossed the wire: a JSON-RPC message, a line of the agent's
// stderr, or other bytes. A mark (Kind Mark) is not a line but an event between the lines.
type Frame struct {
	Seq     uint64        // from 1, in the order seen; a gap means that frames were lost
	At      time.Duration // since the tape began, monotonic
	Dir     Direction
	Origin  Origin
	Kind    Kind
	End     LineEnd
	Untimed bool   // its time is unknown; At is that of the previous frame
	Failed  bool   // a response that carries an error, or an MCP tool's result with isError
	Size    int64  // bytes of the line without its end, even where Raw has fewer
	Raw     []byte // those bytes; the first MaxChecked of a larger frame; nil where only the fields were read

	Stream      uint64 // the HTTP exchange or WebSocket that carried it; 0: the connection's own bytes
	Lead        []byte // framing before Raw in that stream; nil where only the fields were read
	Derived     bool   // Raw is made from Lead, which holds what crossed the wire: an event or message in several lines or fragments
	Redelivered bool   // an event sent again, according to its id: a copy of one already on the tape
}

// AtClient reports whether the client's end of the connection saw f, because the client
// sent or received it. It saw neither what acptap did between the two ends nor redelivered
// frames, which tell it nothing new.
func (f *Frame) AtClient() bool {
	if f.Dir == ClientToAgent {
		return f.Origin.Sent() && !f.Redelivered
	}
	return f.Origin.Received() && !f.Redelivered
}

// AtAgent reports whether the agent's end of the connection saw f.
func (f *Frame) AtAgent() bool {
	if f.Dir == ClientToAgent {
		return f.Origin.Received() && !f.Redelivered
	}
	return f.Origin.Sent() && !f.Redelivered
}

// Counts reports whether f counts as a message: client or agent sent it, for the first
// time. Frames that acptap made or put in place of others, stderr and marks do not count.
func (f *Frame) Counts() bool {
	return f.Kind != Mark && f.Kind != Stderr && f.Origin.Sent() && !f.Redelivered
}

// A Direction says who wrote a frame.
type Direction uint8

// The directions. An MCP server counts as the agent.
const (
	ClientToAgent Direction = iota
	AgentToClient
	AgentStderr
	Directions // number of directions
)

var directionNames = [...]string{"c2a", "a2c", "err"}

// Opposite returns the direction of answers: the client's for the agent's and vice versa.
// AgentStderr has none, and is returned unchanged.
func (d Direction) Opposite() Direction {
	switch d {
	case ClientToAgent:
		return AgentToClient
	case AgentToClient:
		return ClientToAgent
	}
	return d
}

// In words: who sends a frame of a direction, and who receives it.
var (
	senders   = [...]string{"client", "agent", "agent"}
	receivers = [...]string{"agent", "client", "stderr"}
)

// Sender returns client or agent.
func (d Direction) Sender() string { return Name(senders[:], uint8(d)) }

// Receiver returns agent, client or, for AgentStderr, stderr.
func (d Direction) Receiver() string { return Name(receivers[:], uint8(d)) }

// To returns the direction whose Receiver has a name.
func To(receiver string) (d Direction, ok bool) {
	i := slices.Index(receivers[:], receiver)
	return Direction(max(i, 0)), i >= 0
}

// ToPeer is To for client and agent alone.
func ToPeer(receiver string) (d Direction, ok bool) {
	d, ok = To(receiver)
	return d, ok && d != AgentStderr
}

// String returns the name used in the portable form: c2a, a2c or err.
func (d Direction) String() string { return Name(directionNames[:], uint8(d)) }

// MarshalText returns the name of d.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts a name that String returns.
func (d *Direction) UnmarshalText(text []byte) error {
	return ParseName(directionNames[:], "direction", text, (*uint8)(d))
}

// An Origin says which sides saw a frame. Without an interceptor all frames have the origin
// Wire.
type Origin uint8

// The origins.
const (
	Wire      Origin = iota // one side sent it, the other got the same bytes
	Withheld                // one side sent it, the other did not get it; a Rewritten frame may follow instead
	Injected                // acptap made it: the receiver got it, but the other side did not send it
	Rewritten               // the receiver got it in place of the preceding Withheld frame of its direction
)

var originNames = [...]string{"wire", "withheld", "injected", "rewritten"}

// String returns the name used in the portable form.
func (o Origin) String() string { return Name(originNames[:], uint8(o)) }

// MarshalText returns the name of o.
func (o Origin) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts a name that String returns.
func (o *Origin) UnmarshalText(text []byte) error {
	return ParseName(originNames[:], "origin", text, (*uint8)(o))
}

// Sent reports whether the frame's writer wrote it.
func (o Origin) Sent() bool { return o == Wire || o == Withheld }

// Received reports whether the frame was passed on to the other side.
func (o Origin) Received() bool { return o != Withheld }

// A Kind classifies a frame as JSON-RPC 2.0.
type Kind uint8

// The kinds.
const (
	Invalid      Kind = iota // not a JSON-RPC message: not UTF-8, not JSON, a blank line, a scalar, or an object without method, id, result and error
	Request                  // method and id
	Response                 // no method, but an id, a result or an error
	Notification             // method, no id
	Batch                    // a JSON array, possibly empty
	Oversized                // longer than MaxChecked or nested deeper than MaxDepth; fields are those of the part that was read
	Stderr                   // a line of the agent's stderr
	Mark                     // an event: the end of a stream, a signal, lost bytes, the agent's exit
	Body                     // bytes of an HTTP stream not declared as JSON
)

var kindNames = [...]string{"invalid", "request", "response", "notification", "batch", "oversized", "stderr", "mark", "body"}

// IsMessage reports whether a frame of that kind is JSON-RPC: valid JSON, of bounded
// size and depth.
func (k Kind) IsMessage() bool {
	return k == Request || k == Response || k == Notification || k == Batch
}

// String returns the kind's name, such as "request".
func (k Kind) String() string { return Name(kindNames[:], uint8(k)) }

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts a name that String returns.
func (k *Kind) UnmarshalText(text []byte) error {
	return ParseName(kindNames[:], "kind", text, (*uint8)(k))
}

// A LineEnd says what followed a frame's bytes.
type LineEnd uint8

// The line ends.
const (
	LF   LineEnd = iota
	CRLF         // tolerated: the specifications ask for LF
	None         // the stream ended here
)

var lineEndNames = [...]string{"lf", "crlf", "none"}

// String returns lf, crlf or none.
func (e LineEnd) String() string { return Name(lineEndNames[:], uint8(e)) }

// MarshalText returns the name of e.
func (e LineEnd) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText accepts a name that String returns.
func (e *LineEnd) UnmarshalText(text []byte) error {
	return ParseName(lineEndNames[:], "line end", text, (*uint8)(e))
}

// Bytes returns the line end as it crossed the wire.
func (e LineEnd) Bytes() string {
	switch e {
	case LF:
		return "\n"
	case CRLF:
		return "\r\n"
	}
	return ""
}
