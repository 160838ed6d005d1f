package script

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// receive takes the next line. It returns false if the input has ended, ctx is done or limit
// fires.
func (p *Player) receive(ctx context.Context, limit <-chan time.Time) bool {
	if p.ended {
		return false
	}
	select {
	case line, ok := <-p.In:
		if !ok {
			p.ended = true
			return false
		}
		p.take(line)
		return true
	case <-limit:
	case <-ctx.Done():
	}
	return false
}

// take records the messages of a line and answers the requests that no step answers.
func (p *Player) take(line []byte) {
	p.lines++
	e := rpc.Scan(line)
	if e.Kind != wire.Batch {
		p.add(line, e)
		return
	}
	empty := true
	wire.Entries(line, func(_ int, entry []byte) bool {
		empty = false
		p.add(entry, rpc.Scan(entry))
		return true
	})
	if empty {
		p.add(line, e)
	}
}

func (p *Player) add(raw []byte, e wire.Envelope) {
	p.inbox = append(p.inbox, message{line: p.lines, raw: raw, e: e})
	if e.Method == nil {
		delete(p.unanswered, string(e.ID))
	}
	if e.Method == nil || e.ID == nil {
		return
	}
	q := question{method: string(e.Method), id: string(bytes.Clone(e.ID)), params: e.Params}
	if p.byHand[q.method] > 0 {
		p.byHand[q.method]--
		p.questions = append(p.questions, q)
		return
	}
	p.counts[q.method]++
	p.Captures["count"] = strconv.Itoa(p.counts[q.method])
	if s, ok := p.answers[q.method]; ok {
		if s.Words[0] != "never" {
			_ = p.answer(q, &s) // if a reference has no value yet, the answer is dropped
		}
		return
	}
	if dialect.Does(q.method, dialect.AsksPermission) {
		p.decide(q)
		return
	}
	p.writeLine(wire.NewError([]byte(q.id), []byte(`{"code":-32601,"message":"Method not found"}`)))
}

// decide answers a permission request as the user would.
func (p *Player) decide(q question) {
	kind := map[string]string{"allow": "allow_once", "reject": "reject_once"}[p.permit]
	switch {
	case p.permit == "never":
		return
	case kind != "":
		for _, option := range q.params.Get("options").Array() {
			if option.Get("kind").Text() == kind {
				p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%s}}}`, q.id, wire.Quote(option.Get("optionId").Text())))
				return
			}
		}
	}
	p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, q.id))
}

// Lines reads lines from in until it ends, then closes the channel. Its goroutine also exits
// when stop is closed, once in no longer blocks.
func Lines(in io.Reader, stop <-chan struct{}) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		rpc.ReadLines(in, false, func() {}, func(line []byte) {
			select {
			case lines <- line:
			case <-stop:
			}
		})
	}()
	return lines
}
