package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A class ranks how important a frame's bytes are for the page. If not all fit, lower
// classes win.
type class uint8

const (
	ofFailure class = iota
	ofRequest
	ofResponse
	ofTool
	ofRest
	ofChunk // the story contains their text
	classes
)

// left is the class of bytes that are not on the page.
const left = '?'

func classOf(f *dialect.Frame, failure dialect.Failure) class {
	u, _ := dialect.LookupUpdate(f.Update)
	switch {
	case failure != dialect.NoFailure:
		return ofFailure
	case f.Kind == wire.Request:
		return ofRequest
	case f.Kind == wire.Response:
		return ofResponse
	case u.Form == dialect.Chunk:
		return ofChunk
	case u.Entity == dialect.ToolCall:
		return ofTool
	}
	return ofRest
}

// The page unpacks one block at a time, so blocks are small; smaller ones would compress
// worse.
const (
	blockFrames = 512
	blockBytes  = 512 << 10
	longest     = 64 << 10 // limits the bytes of a frame that are on the page
)

// frameBytes holds the bytes of frames, in blocks of one class each, with a line for
// each frame, in order. A line is the frame itself if that is a message on one line;
// {"cut":"the beginning","size":n} for a long frame; otherwise a JSON string.
type frameBytes struct {
	limit int // bytes of a class's blocks on the page
	of    [classes]blocks
	deflater
}

// blocks holds the blocks of one class.
type blocks struct {
	done  []string
	count []int // frames in each
	size  int   // of finished blocks on the page
	lines []byte
	n     int
}

// add adds the bytes of a frame and returns the letter of its class.
func (p *frameBytes) add(f *dialect.Frame, c class) byte {
	b := &p.of[c]
	if b.size > p.limit {
		return left
	}
	if b.n > 0 {
		b.lines = append(b.lines, '\n')
	}
	b.lines = append(b.lines, line(f)...)
	if b.n++; b.n == blockFrames || len(b.lines) >= blockBytes {
		p.end(b)
	}
	return '0' + byte(c)
}

// end packs what was added since the last block.
func (p *frameBytes) end(b *blocks) {
	if b.n == 0 {
		return
	}
	data := p.pack(b.lines)
	b.done, b.count, b.size = append(b.done, data), append(b.count, b.n), b.size+len(data)
	b.lines, b.n = b.lines[:0], 0
}

// blocks returns the blocks that fit, and how many frames each has.
func (p *frameBytes) blocks(room int) (list []block, frames [classes][]int) {
	for c := range p.of {
		b := &p.of[c]
		p.end(b)
		for i, data := range b.done {
			if len(data) > room {
				room = 0 // a smaller block after it would leave a hole
				break
			}
			room -= len(data)
			list = append(list, block{ID: fmt.Sprintf("bytes-%d-%d", c, i), Data: data})
			frames[c] = append(frames[c], b.count[i])
		}
	}
	return list, frames
}

func line(f *dialect.Frame) []byte {
	var text any
	switch raw := f.Raw; {
	case f.Size > longest || len(raw) > longest:
		text = struct {
			Cut  string `json:"cut"`
			Size int64  `json:"size"`
		}{strings.ToValidUTF8(string(raw[:min(len(raw), longest)]), "\ufffd"), f.Size}
	case f.Kind.IsMessage() && !bytes.ContainsAny(raw, "\r\n"):
		return raw
	default:
		text = strings.ToValidUTF8(string(raw), "\ufffd")
	}
	b, err := json.Marshal(text)
	if err != nil {
		panic("report: " + err.Error())
	}
	return b
}

// A deflater compresses data. The zero value is ready to use.
type deflater struct {
	b bytes.Buffer
	w *flate.Writer
}

// pack returns data in raw deflate and base64url, which needs no escaping.
func (d *deflater) pack(data []byte) string {
	d.b.Reset()
	if d.w == nil {
		d.w, _ = flate.NewWriter(&d.b, flate.DefaultCompression)
	}
	d.w.Reset(&d.b)
	d.w.Write(data) // writing to memory cannot fail
	d.w.Close()
	return base64.RawURLEncoding.EncodeToString(d.b.Bytes())
}
