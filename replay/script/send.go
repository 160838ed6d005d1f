package script

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// ask sends a request or a notification.
func (p *Player) ask(s *Step) error {
	value := s.Value
	if !s.Given {
		value = parameters(s.Method, p.Dialect)
	}
	value, err := p.Captures.fill(value)
	if err != nil {
		return err
	}
	line := []byte(`{"jsonrpc":"2.0"`)
	if s.Verb != Notify && (s.Verb != Pad || form(s.Method, p.Dialect) == Request) {
		id := strconv.Itoa(len(p.sent) + 1)
		p.sent = append(p.sent, request{s.Name, s.Method, id})
		p.unanswered[id] = true
		line = append(line, `,"id":`+id...)
	}
	line = append(line, `,"method":`...)
	line = append(line, wire.Quote(s.Method)...)
	if s.Verb == Pad {
		value = padded(value, s.Count-len(line))
	}
	if value != nil {
		line = append(line, `,"params":`...)
		line = append(line, encode(value)...)
	}
	p.writeLine(append(line, '}'))
	return nil
}

// padded pads params in _meta, so that the rest of the message takes n bytes.
func padded(params any, n int) any {
	object, _ := params.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	meta, _ := object["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		object["_meta"] = meta
	}
	meta["acptap.dev/padding"] = ""
	n -= len(encode(object)) + len(`,"params":}`)
	meta["acptap.dev/padding"] = strings.Repeat("x", max(n, 0))
	return object
}

// reply answers an open request of the other side: the one that the step names, otherwise the
// oldest for a client and the newest for an agent.
func (p *Player) reply(s *Step) error {
	at := -1
	for i, q := range p.questions {
		switch {
		case s.Name != "" && q.name != s.Name:
		case at < 0 || p.Side == wire.AgentToClient:
			at = i
		}
	}
	for _, q := range p.answered {
		if at < 0 && s.Name != "" && q.name == s.Name {
			return p.answer(q, s) // a second answer
		}
	}
	if at < 0 {
		return fmt.Errorf("there was no request to answer in line %d", s.Line)
	}
	q := p.questions[at]
	p.questions, p.answered = append(p.questions[:at:at], p.questions[at+1:]...), append(p.answered, q)
	return p.answer(q, s)
}

// answer sends the answer that the step gives to q.
func (p *Player) answer(q question, s *Step) error {
	if q.params != nil {
		if params, err := decode(q.params); err == nil {
			p.Captures["params"] = params
		}
	}
	value, err := p.Captures.fill(s.Value)
	if err != nil {
		return err
	}
	if s.Verb == Error || s.Verb == On && s.Words[0] == "error" {
		if value == nil {
			value = map[string]any{}
		}
		if s.Code != "" {
			object := value.(map[string]any)
			object["code"] = json.Number(s.Code)
			if _, there := object["message"]; !there {
				message, err := p.Captures.fillText(cmp.Or(string(s.Bytes), "an error, as the script says"))
				if err != nil {
					return err
				}
				object["message"] = message
			}
		}
		p.writeLine(wire.NewError([]byte(q.id), encode(value)))
		return nil
	}
	if !s.Given {
		value = map[string]any{}
	}
	p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, encode(value)))
	return nil
}

// whole sends a message as written, and adds jsonrpc if it is missing.
func (p *Player) whole(s *Step) error {
	value, err := p.Captures.fill(s.Value)
	if err != nil {
		return err
	}
	object := value.(map[string]any)
	if _, there := object["jsonrpc"]; !there {
		object["jsonrpc"] = "2.0"
	}
	p.writeLine(encode(object))
	return nil
}

func (p *Player) pieces(ctx context.Context, s *Step) error {
	for data := s.Bytes; len(data) > 0; {
		n := min(s.Count, len(data))
		if string(data[n:]) == "\n" {
			n++ // otherwise the peer could answer before the tape has the whole line
		}
		p.write(data[:n])
		data = data[n:]
		if err := sleep(ctx, s.Within); err != nil {
			return err
		}
	}
	return nil
}

func (p *Player) write(data []byte) { _, _ = p.Out.Write(data) } // the next wait notices that the other side is gone

func (p *Player) writeLine(data []byte) { p.write(append(data, '\n')) }
