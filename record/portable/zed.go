package portable

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// zed reads the text that Copy All Messages copies from Zed's ACP log (dev: open acp logs):
// an indented array of messages. Their params hold the params or, in a response, the result
// or the error. Since 2026 it also has lines of stderr:
//
//	{"_direction":"outgoing","_type":"request","id":"8f1…","method":"initialize","params":{…}}
//	{"_direction":"incoming","_type":"response","id":"8f1…","method":"initialize","params":{…}}
//	{"_direction":"incoming","_type":"notification","id":null,"method":"session/update","params":{…}}
//	{"_direction":"stderr","_type":"stderr","id":null,"method":"stderr","params":"a line"}
//
// Zed keeps the last 2000 messages. Its own log file, Zed.log, has stderr only.
type zed struct {
	log
	dec *json.Decoder
}

func isZed(head []byte) bool { return begins(head, "[", "{", `"_direction"`) }

func readZed(f *file) error {
	limit := &limitReader{r: f.in}
	z := &zed{log{
		file: f, unit: "message", head: Head{Start: journal.Start{Proto: "acp"}},
		lacks: "From the ACP log of Zed: it has no times, messages were encoded again, and a result that has only code and message reads as an error",
	}, json.NewDecoder(limit)}
	return z.end(z.read(limit))
}

func (z *zed) read(limit *limitReader) error {
	z.dec.Token() // the bracket that isZed saw
	n := 1
	for ; z.dec.More(); n++ {
		limit.read = 0
		var m json.RawMessage
		if err := z.dec.Decode(&m); err != nil {
			return z.stop(n, err)
		}
		if err := z.element(n, m); err != nil {
			return err
		}
	}
	limit.read = 0
	if _, err := z.dec.Token(); err != nil {
		return z.stop(n, err)
	}
	if _, err := z.dec.Token(); !endsEarly(err) {
		return z.stop(n, errors.New("something follows the messages"))
	}
	return nil
}

func (z *zed) element(n int, m []byte) error {
	g := wire.ValueOf(m)
	var dir wire.Direction
	switch g.Get("_direction").Text() {
	case "outgoing":
		dir = wire.ClientToAgent
	case "incoming":
		dir = wire.AgentToClient
	case "stderr":
		return z.message(n, wire.AgentStderr, []byte(g.Get("params").Text()), time.Time{})
	default:
		return z.lost(n, len(m))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, m); err != nil {
		return z.lost(n, len(m))
	}
	id, method, params := wire.Get(b.Bytes(), "id"), wire.Get(b.Bytes(), "method"), wire.Get(b.Bytes(), "params")
	var raw []byte
	switch g.Get("_type").Text() {
	case "request":
		raw = rebuilt(id, method, params, nil, nil)
	case "notification":
		raw = rebuilt(nil, method, params, nil, nil)
	case "response":
		if params == nil {
			params = []byte("null")
		}
		if isError(g.Get("params")) {
			raw = rebuilt(id, nil, nil, nil, params)
		} else {
			raw = rebuilt(id, nil, nil, params, nil)
		}
	default:
		return z.missing(n, dir, len(m), time.Time{})
	}
	return z.message(n, dir, raw, time.Time{})
}

// isError reports whether the object of a response has the members of an error and no
// others.
func isError(v wire.Value) bool {
	if !v.Get("code").IsNumber() || !v.Get("message").IsString() {
		return false
	}
	only := true
	v.ForEach(func(key, _ wire.Value) bool {
		switch key.Text() {
		case "code", "message", "data":
		default:
			only = false
		}
		return only
	})
	return only
}
