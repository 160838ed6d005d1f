package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/acptap/acptap/record/termtext"
)

// A conversation is exported as {turns, entities, state}. Names are those of
// the protocol where it has one. Times are seconds since the tape began, as in
// the portable form of a tape; first, last, prompt, end, request and response
// are numbers of frames.

// MarshalJSON returns {turns, entities, state}.
func (c *Conversation) MarshalJSON() ([]byte, error) {
	b := bytes.NewBufferString("{")
	err := c.WriteMembers(b)
	b.WriteByte('}')
	return b.Bytes(), err
}

// WriteMembers writes the members of what MarshalJSON returns. It never holds more than one
// entity as JSON. Characters that control a terminal are escaped.
func (c *Conversation) WriteMembers(w io.Writer) error {
	write := func(before string, v any) error {
		b, err := json.Marshal(v)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", before, termtext.JSON(b))
		}
		return err
	}
	if err := write(`"turns":`, array(c.Turns)); err != nil {
		return err
	}
	io.WriteString(w, `,"entities":[`) // the next write returns the error
	before := ""
	for _, e := range c.Entities {
		if err := write(before, e); err != nil {
			return err
		}
		before = ","
	}
	return write(`],"state":`, &c.State)
}

// array replaces a nil slice, which would be exported as null, with an empty one.
func array[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MarshalJSON returns {began, ended, firstOutput?, run, first, last, number,
// prompt, end?, stopReason?, error?, cancelled?, output?}.
func (t *Turn) MarshalJSON() ([]byte, error) {
	type plain Turn
	return json.Marshal(struct {
		Began       termtext.Seconds `json:"began"`
		Ended       termtext.Seconds `json:"ended"`
		FirstOutput termtext.Seconds `json:"firstOutput,omitzero"`
		*plain
	}{termtext.Seconds(t.Began), termtext.Seconds(t.Ended), termtext.Seconds(t.FirstOutput), (*plain)(t)})
}

// MarshalJSON returns {began, ended, run, first, last, turn, replayed?, below?} and one of
// message, toolCall, plan, terminal, compaction, permission, question, subagent, notice and
// other.
func (e *Entity) MarshalJSON() ([]byte, error) {
	type plain Entity
	return json.Marshal(struct {
		Began termtext.Seconds `json:"began"`
		Ended termtext.Seconds `json:"ended"`
		*plain
	}{termtext.Seconds(e.Began), termtext.Seconds(e.Ended), (*plain)(e)})
}

// MarshalJSON returns {role, messageId?, text, blocks, _meta?}.
func (m *Message) MarshalJSON() ([]byte, error) {
	type plain Message
	return json.Marshal(struct {
		*plain
		Text   string `json:"text"`
		Blocks Blocks `json:"blocks"`
	}{(*plain)(m), m.Text(), m.Blocks})
}

// MarshalJSON returns {request, response?, asked, answered?, options, …}.
func (p *Permission) MarshalJSON() ([]byte, error) {
	type plain Permission
	return json.Marshal(struct {
		*plain
		Asked    termtext.Seconds `json:"asked"`
		Answered termtext.Seconds `json:"answered,omitzero"`
		Options  []Option         `json:"options"`
	}{(*plain)(p), termtext.Seconds(p.Asked), termtext.Seconds(p.Answered), array(p.Options)})
}

// MarshalJSON returns {terminalId, command, output, exitStatus?, …}. Output
// that is not UTF-8 is encoded in base64.
func (t *Terminal) MarshalJSON() ([]byte, error) {
	type plain Terminal
	export := struct {
		*plain
		Output string `json:"output"`
		Base64 []byte `json:"base64,omitempty"`
	}{plain: (*plain)(t)}
	if utf8.Valid(t.Output) {
		export.Output = string(t.Output)
	} else {
		export.Base64 = t.Output
	}
	return json.Marshal(export)
}
