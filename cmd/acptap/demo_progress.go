package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// A demoProgress writes a line for each message of the demo.
type demoProgress struct {
	w     io.Writer
	asked [2]map[string]string // methods of requests, by who asked and by id
	last  string
}

func newDemoProgress(w io.Writer) *demoProgress {
	return &demoProgress{w: w, asked: [2]map[string]string{{}, {}}}
}

// show takes the next message. Several of one kind in a row get one line.
func (p *demoProgress) show(by wire.Direction, message []byte) {
	e := wire.Scan(message)
	what := string(e.Method)
	switch e.Kind {
	case wire.Request:
		p.asked[by][string(e.ID)] = what
	case wire.Response:
		what = "answers " + p.asked[1-by][string(e.ID)]
	default:
		what = strings.TrimSpace(what + " " + gjson.GetBytes(e.Params, "update.sessionUpdate").Str)
	}
	if line := fmt.Sprintf("%-6s → %s", demoName(by), what); line != p.last {
		fmt.Fprintln(p.w, line)
		p.last = line
	}
}
