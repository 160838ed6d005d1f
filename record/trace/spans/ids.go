package spans

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// A TraceID names a trace. The zero value names none.
type TraceID [16]byte

// String returns the id in hexadecimal.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// MarshalText returns what String does.
func (t TraceID) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// A SpanID names a span in its trace. The zero value names none.
type SpanID [8]byte

// String returns the id in hexadecimal.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns what String does.
func (s SpanID) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// The domains of the hashes. If ids are ever made in another way, change the number, so that
// spans already sent keep their ids.
const (
	traceDomain = "acptap trace 1"
	spanDomain  = "acptap span 1"
)

// traceID returns the id of the trace that begins with frame seq of a tape.
func traceID(tape string, k Kind, seq uint64) (id TraceID) {
	fill(id[:], traceDomain, []byte(tape), []byte(k.String()), number(seq))
	return id
}

// spanID returns the id of the span that begins with a message: a frame, or an entry of a
// batch.
func spanID(tape string, k Kind, seq uint64, entry int) (id SpanID) {
	fill(id[:], spanDomain, []byte(tape), []byte(k.String()), number(seq), number(uint64(entry)))
	return id
}

// connectionRef returns the span of a tape's connection. It needs no frame, so other tapes can
// refer to it.
func connectionRef(tape string) Ref {
	return Ref{traceID(tape, Connection, 0), spanID(tape, Connection, 0, 0)}
}

// fill overwrites id with the hash of the parts, each preceded by its length. If the result is
// all zeros, which would mean none, fill hashes it again.
func fill(id []byte, domain string, parts ...[]byte) {
	h := sha256.New()
	for _, p := range append([][]byte{[]byte(domain)}, parts...) {
		h.Write(number(uint64(len(p))))
		h.Write(p)
	}
	sum := h.Sum(nil)
	for copy(id, sum); len(bytes.Trim(id, "\x00")) == 0; copy(id, sum) {
		again := sha256.Sum256(sum)
		sum = again[:]
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// parseTraceparent reads a traceparent (W3C Trace Context, section 3.2), which MCP
// (SEP-414) and ACP (RFD "Meta Field Propagation Conventions") put into params._meta.
func parseTraceparent(text string) (to Ref, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 || len(parts[3]) != 2 {
		return Ref{}, false
	}
	var version, flags [1]byte
	ok = lowerHex(version[:], parts[0]) && lowerHex(to.Trace[:], parts[1]) && lowerHex(to.ID[:], parts[2]) && lowerHex(flags[:], parts[3])
	return to, ok && to.Trace != TraceID{} && to.ID != SpanID{}
}

func lowerHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) || strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}
