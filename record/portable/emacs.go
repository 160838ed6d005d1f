package portable

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// emacsTraffic reads what acp.el, which agent-shell uses, saves from its traffic buffer
// (acp-traffic-save-to): a list in Emacs Lisp. elisp converts its elements to JSON.
//
//	(((:direction . outgoing) (:kind . request)
//	  (:object (jsonrpc . "2.0") (method . "initialize") (id . 1)
//	           (params (protocolVersion . 1))))
//	 ((:direction . incoming) (:kind . response) …))
type emacsTraffic struct {
	log
	list elisp
}

func isEmacsTraffic(head []byte) bool { return begins(head, "(", "(", "(", ":direction") }

func readEmacsTraffic(f *file) error {
	t := &emacsTraffic{
		log: log{
			file: f, unit: "message", head: Head{Start: journal.Start{Proto: "acp"}},
			lacks: "From traffic that acp.el saved in Emacs: it has no times and no stderr, messages were encoded again, and null, false and {} from the agent all read as null",
		},
		list: elisp{in: f.in},
	}
	return t.end(t.read())
}

func (t *emacsTraffic) read() error {
	t.list.open() // the parenthesis that isEmacsTraffic saw
	for n := 1; ; n++ {
		entry, more, err := t.list.element()
		if err != nil {
			return t.stop(n, err)
		}
		if !more {
			return nil
		}
		if err := t.entry(n, entry); err != nil {
			return err
		}
	}
}

func (t *emacsTraffic) entry(n int, entry []byte) error {
	if !json.Valid(entry) {
		return t.lost(n, len(entry)) // a label where acp.el prints none
	}
	object := wire.Get(entry, ":object")
	var dir wire.Direction
	switch wire.ValueAt(entry, `:direction`).Text() {
	case "outgoing":
		dir = wire.ClientToAgent
	case "incoming":
		dir = wire.AgentToClient
	default:
		return t.lost(n, len(entry))
	}
	if !wire.ValueOf(object).IsObject() {
		return t.missing(n, dir, len(entry), time.Time{})
	}
	return t.message(n, dir, object, time.Time{})
}

// emacsLog reads a saved log buffer of acp.el. Each message is below a heading; below other
// headings are details of what acp.el did with it:
//
//	OUTGOING TEXT >
//
//	{"jsonrpc":"2.0","method":"initialize",…}
//
//	INCOMING LINE >
//
//	{"jsonrpc":"2.0","id":1,…}
type emacsLog struct {
	log
	heading string
}

const (
	emacsSent     = "OUTGOING TEXT"
	emacsReceived = "INCOMING LINE"
	emacsStderr   = "STDERR"
)

func isEmacsLog(head []byte) bool {
	return anyLine(head, func(line []byte) bool {
		return string(line) == emacsSent+" >" || string(line) == emacsReceived+" >"
	})
}

func readEmacsLog(f *file) error {
	e := &emacsLog{log: log{
		file: f, unit: "line", head: Head{Start: journal.Start{Proto: "acp"}},
		lacks: "From a log of acp.el in Emacs: it has no times",
	}}
	return e.end(e.eachLine(e.read))
}

func (e *emacsLog) read(l logLine) error {
	if heading, ok := bytes.CutSuffix(l.text, []byte(" >")); ok && bytes.Equal(heading, bytes.ToUpper(heading)) {
		e.heading = string(heading)
		return nil
	}
	dir := wire.AgentStderr
	switch e.heading {
	case emacsSent:
		dir, e.heading = wire.ClientToAgent, ""
	case emacsReceived:
		dir, e.heading = wire.AgentToClient, ""
	case emacsStderr:
	default:
		return nil
	}
	if dir == wire.AgentStderr && bytes.HasPrefix(l.text, []byte("↳ ")) {
		e.heading = "" // what acp.el did with a message
		return nil
	}
	if l.size > len(l.text) || dir != wire.AgentStderr && !l.complete(l.text) {
		return e.missing(l.n, dir, l.size, time.Time{})
	}
	return e.message(l.n, dir, l.text, time.Time{})
}
