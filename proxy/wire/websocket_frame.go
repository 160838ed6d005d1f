package wire

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Opcodes of WebSocket frames (RFC 6455, section 5.2).
const (
	opContinuation = 0
	opText         = 1
	opClose        = 8 // and above: control frames
)

// A frameHead is the header of a WebSocket frame.
type frameHead struct {
	final    bool
	reserved bool // an extension has changed the payload
	opcode   byte
	length   int64 // of the payload
	mask     mask
	size     int // bytes of the head itself
}

// control reports whether the frame is a control frame and not part of a message. An
// overlong control frame counts as a message, so it need not be held until it ends.
func (h frameHead) control() bool { return h.opcode >= opClose && h.length <= 125 }

// readFrameHead reads a head; ok is false if p does not hold all of it.
func readFrameHead(p []byte) (h frameHead, ok bool) {
	if len(p) < 2 {
		return h, false
	}
	h = frameHead{
		final: p[0]&0x80 != 0, reserved: p[0]&0x70 != 0, opcode: p[0] & 0x0f,
		length: int64(p[1] & 0x7f), mask: mask{On: p[1]&0x80 != 0}, size: 2,
	}
	switch extended := p[2:]; {
	case h.length == 126:
		if h.size += 2; len(extended) < 2 {
			return h, false
		}
		h.length = int64(binary.BigEndian.Uint16(extended))
	case h.length == 127:
		if h.size += 8; len(extended) < 8 {
			return h, false
		}
		h.length = int64(binary.BigEndian.Uint64(extended) & math.MaxInt64)
	}
	if h.mask.On {
		if h.size += 4; len(p) < h.size {
			return h, false
		}
		copy(h.mask.Key[:], p[h.size-4:])
	}
	return h, true
}

// beginsMessage reports whether p begins with the head of a message whose first two
// characters look like JSON-RPC. ok is false if p is too short to tell.
func beginsMessage(p []byte) (begins, ok bool) {
	h, ok := readFrameHead(p)
	if !ok || len(p) < h.size+2 {
		return false, false
	}
	text := [2]byte(p[h.size:])
	h.mask.apply(text[:])
	return h.length >= 2 &&
		(text[0] == '{' && bytes.IndexByte([]byte("\"} \t\r\n"), text[1]) >= 0 ||
			text[0] == '[' && bytes.IndexByte([]byte("{] \t\r\n"), text[1]) >= 0), true
}

// A mask is the masking key of a payload (RFC 6455, section 5.3), starting at some
// position in it.
type mask struct {
	On  bool    `json:"on,omitempty"`
	Key [4]byte `json:"key,omitzero"` // for the next bytes
}

// apply masks or unmasks the next bytes of the payload in place.
func (m *mask) apply(p []byte) {
	if !m.On {
		return
	}
	key := binary.LittleEndian.Uint32(m.Key[:])
	wide := uint64(key)<<32 | uint64(key)
	n := len(p)
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^wide)
	}
	for i := range p {
		p[i] ^= m.Key[i&3]
	}
	for range n & 3 {
		m.Key = [4]byte{m.Key[1], m.Key[2], m.Key[3], m.Key[0]}
	}
}

// lastMask returns the mask of the message whose payload follows lead.
func lastMask(lead []byte) mask {
	var m message
	m.skipControl(lead)
	return m.Mask
}

// readClose reads the payload of a close frame (RFC 6455, section 5.5.1).
func readClose(payload []byte) *Close {
	const noCode = 1005 // section 7.1.5
	if len(payload) < 2 {
		return &Close{Code: noCode}
	}
	return &Close{Code: int(binary.BigEndian.Uint16(payload)), Reason: string(payload[2:])}
}
