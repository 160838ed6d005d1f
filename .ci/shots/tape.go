package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"
)

// An object is a JSON object; its members are written in the order of their names.
type object = map[string]any

// A tape is written in the portable form (acptap help portable), frame by frame. Its clock
// moves only by wait, so that the same tape is written each time.
type tape struct {
	text  bytes.Buffer
	at    float64 // seconds since the tape began
	seq   int
	asked struct{ client, agent int } // requests so far; both sides count from 0

	number  int // among all tapes
	session string
}

// began is when the first tape began. Each begins a quarter of an hour after the one before.
var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func startOf(number int) time.Time { return began.Add(time.Duration(number) * 15 * time.Minute) }

// newTape returns a tape with its header. Its number says when it began.
func newTape(number int, name string, header object) *tape {
	t := &tape{number: number}
	line := object{
		"acptap": 1, "tape": tapeID(startOf(number), name), "started": startOf(number).Format(time.RFC3339Nano),
		"name": name, "cwd": "/home/ann/ledger", "version": "v1.0.0",
	}
	for member, value := range header {
		line[member] = value
	}
	t.line(line)
	return t
}

// tapeID returns an id of acptap's own form.
func tapeID(start time.Time, name string) string {
	const letters = "23456789bcdfghjkmnpqrstvwxz"
	hash := fnv.New64a()
	hash.Write([]byte(name))
	id := strings.Replace(start.Format("20060102T150405.000-"), ".", "", 1)
	for n := hash.Sum64(); len(id) < len("20261120T091500000-abcdef"); n /= uint64(len(letters)) {
		id += string(letters[n%uint64(len(letters))])
	}
	return id
}

func (t *tape) line(line object) {
	encoder := json.NewEncoder(&t.text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		panic(err) // an object that JSON cannot have
	}
}

func (t *tape) wait(seconds float64) { t.at += seconds }

// write writes a line with the next number, at the present time.
func (t *tape) write(dir string, line object) {
	t.seq++
	line["seq"], line["at"], line["dir"] = t.seq, math.Round(t.at*1e6)/1e6, dir
	t.line(line)
}

func (t *tape) client(frame object) { t.frame("c2a", frame) }
func (t *tape) agent(frame object)  { t.frame("a2c", frame) }
func (t *tape) stderr(text string)  { t.write("err", object{"text": text}) }

func (t *tape) frame(dir string, frame object) {
	frame["jsonrpc"] = "2.0"
	t.write(dir, object{"frame": frame})
}

// ask lets the client send a request, and returns its id.
func (t *tape) ask(method string, params object) int {
	id := t.asked.client
	t.asked.client++
	t.client(object{"id": id, "method": method, "params": params})
	return id
}

// answer lets the agent answer after some time.
func (t *tape) answer(id int, after float64, result object) {
	t.wait(after)
	t.agent(object{"id": id, "result": result})
}

// fail lets the agent answer with an error.
func (t *tape) fail(id int, after float64, code int, message string, data any) {
	t.wait(after)
	e := object{"code": code, "message": message}
	if data != nil {
		e["data"] = data
	}
	t.agent(object{"id": id, "error": e})
}

// askClient lets the agent ask its client, which answers after some time.
func (t *tape) askClient(method string, params object, after float64, result object) {
	id := t.asked.agent
	t.asked.agent++
	t.agent(object{"id": id, "method": method, "params": params})
	t.wait(after)
	t.client(object{"id": id, "result": result})
}

// update lets the agent send an update of a kind to the session.
func (t *tape) update(kind string, update object) {
	update["sessionUpdate"] = kind
	t.agent(object{"method": "session/update", "params": object{"sessionId": t.session, "update": update}})
}

// say lets the agent write a text in chunks of some words, as models do.
func (t *tape) say(text string) { t.stream("agent_message_chunk", text) }

func (t *tape) think(text string) { t.stream("agent_thought_chunk", text) }

func (t *tape) stream(kind, text string) {
	words := strings.SplitAfter(text, " ")
	for len(words) > 0 {
		n := min(6, len(words))
		t.update(kind, object{"content": textBlock(strings.Join(words[:n], ""))})
		t.wait(0.11)
		words = words[n:]
	}
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// plan sends the steps of a plan, of which some are done and the next one is in progress.
func (t *tape) plan(done int, steps ...string) {
	var entries []object
	for i, step := range steps {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		entries = append(entries, object{"content": step, "priority": "medium", "status": status})
	}
	t.update("plan", object{"entries": entries})
}

// usage tells how much of the context is used, and what the session has cost.
func (t *tape) usage(used int, dollars float64) {
	t.update("usage_update", object{"used": used, "size": 200_000, "cost": object{"amount": math.Round(dollars*1e4) / 1e4, "currency": "USD"}})
}

// prompt begins a turn.
func (t *tape) prompt(blocks ...object) int {
	return t.ask("session/prompt", object{"sessionId": t.session, "prompt": blocks})
}

// tokens returns the result of a turn, with tokens as Claude Agent reports them.
func tokens(reason string, in, out, cached int) object {
	return object{"stopReason": reason, "usage": object{
		"inputTokens": in, "outputTokens": out, "cachedReadTokens": cached, "cachedWriteTokens": in / 3,
		"totalTokens": in + out + cached + in/3,
	}}
}

// close ends the tape in order: the client closes the agent's stdin, and the agent exits.
func (t *tape) close() {
	t.write("c2a", object{"eof": true})
	t.wait(0.04)
	t.write("err", object{"eof": true})
	t.write("a2c", object{"eof": true})
	t.exit(object{"code": 0})
}

func (t *tape) exit(exit object) { t.write("a2c", object{"exit": exit}) }

// uuid returns an id that looks like one of a session.
func uuid(number int) string {
	n := uint64(number+1) * 0x9e3779b97f4a7c15
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(n>>32), uint16(n>>16), n&0xfff, n>>50&0xfff, n*n&0xffffffffffff)
}
