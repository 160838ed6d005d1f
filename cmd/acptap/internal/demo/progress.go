package demo

import (
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Progress writes a line for each message that passes.
type Progress struct {
	w       io.Writer
	methods [2]map[string]string // of requests, by sender and id
	last    string
}

// NewProgress returns a Progress that writes to w.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, methods: [2]map[string]string{{}, {}}}
}

// Show reports the next message. Consecutive messages of one kind share a line.
func (p *Progress) Show(by wire.Direction, message []byte) {
	e := wire.Scan(message)
	what := string(e.Method)
	switch e.Kind {
	case wire.Request:
		p.methods[by][string(e.ID)] = what
	case wire.Response:
		what = "answers " + p.methods[1-by][string(e.ID)]
	default:
		what = strings.TrimSpace(what + " " + e.Params.Get("update.sessionUpdate").Text())
	}
	if line := fmt.Sprintf("%-6s → %s", peerName(by), what); line != p.last {
		fmt.Fprintln(p.w, line)
		p.last = line
	}
}
