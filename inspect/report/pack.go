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

// A class is how much it matters that the bytes of a frame are in the page. Where there is
// no room for all, the first classes are.
type class uint8

const (
	ofFailure class = iota
	ofRequest
	ofResponse
	ofTool
	ofRest
	ofChunk // whose text the story has
	classes
)

// left is the class of bytes that the page does not have.
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

// Blocks are unpacked one by one, so they are small; but the smaller, the worse they pack.
const (
	blockFrames = 512
	blockBytes  = 512 << 10
	longest     = 64 << 10 // bytes of a frame that are in the page
)

// frameBytes are the bytes of frames, in blocks of one class each: a line a frame, in their
// order. A line is the frame itself if that is a message on one line; a JSON string of any
// other; and {"cut":"the beginning","size":n} of a long one.
type frameBytes struct {
	limit int // bytes of the blocks of a class on the page
	of    [classes]blocks
	deflater
}

// blocks are those of one class.
type blocks struct {
	done  []string
	count []int // frames in each
	size  int   // of finished blocks on the page
	lines []byte
	n     int
}

// add adds the bytes of a frame, and returns the letter of its class.
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

// blocks returns the blocks that there is room for, and how many frames are in each.
func (p *frameBytes) blocks(room int) (list []block, frames [classes][]int) {
	for c := range p.of {
		b := &p.of[c]
		p.end(b)
		for i, data := range b.done {
			if len(data) > room {
				room = 0 // smaller ones that follow would leave holes
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

// A deflater packs data. The zero value is ready.
type deflater struct {
	b bytes.Buffer
	w *flate.Writer
}

// pack returns data in raw deflate and base64url, which html/template leaves alone.
func (d *deflater) pack(data []byte) string {
	d.b.Reset()
	if d.w == nil {
		d.w, _ = flate.NewWriter(&d.b, flate.DefaultCompression)
	}
	d.w.Reset(&d.b)
	d.w.Write(data) // to memory, which does not fail
	d.w.Close()
	return base64.RawURLEncoding.EncodeToString(d.b.Bytes())
}
