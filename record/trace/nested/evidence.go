package nested

import (
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// Evidence is the reason for attributing a server call to a tool call.
type Evidence uint8

// The kinds of evidence, strongest first.
const (
	NoEvidence  Evidence = iota
	ByID                 // the request names the tool call in its _meta
	ByInput              // the tool call's rawInput names server and tool
	ByName               // the tool call's own names contain those of server and tool
	ByArguments          // both have the same arguments
	ByText               // what the tool call shows contains the answer to the call
	ByTool               // the tool call's name begins with the tool's, and no other tool call qualifies
)

var evidenceNames = [...]string{"", "id", "input", "name", "arguments", "text", "tool"}

func (e Evidence) String() string { return evidenceNames[e] }

// MarshalText returns the name of e.
func (e Evidence) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Scores of evidence. A pair that scores less than enough is not joined.
const (
	forID        = 32
	forInput     = 16
	forName      = 8
	forArguments = 4
	forText      = 2
	forTool      = 1
	forNoOther   = 1 // no other eligible call or tool call was open
	enough       = 2
	mostPoints   = forID + forArguments + forText + forNoOther
)

// A fit is how well a call and a tool call match in time, worst first.
type fit uint8

const (
	early   fit = iota // the tool call's last update came shortly before the answer
	late               // the tool call was announced after the answer, or its last update never came
	between            // the answer came while the tool call was open
	fits
)

// Limits on what fits. The latest announcement of a tool call seen so far came 0.8 s
// after the answer; no known agent sends the last update before the answer.
const (
	maxEarly = int64(250 * time.Millisecond)
	maxLate  = int64(5 * time.Second)
	skew     = int64(20 * time.Millisecond) // between two frames on their way to two journals
)

// fitOf returns how a call and a tool call fit. ok is false if they cannot belong
// together.
func fitOf(c *Call, t *span) (f fit, ok bool) {
	began, answered := c.span()
	switch {
	case began < t.from-skew || t.began > answered+maxLate:
		return 0, false
	case t.end == math.MaxInt64:
	case t.end+maxEarly < answered || t.end+skew < began:
		return 0, false
	case t.end < answered:
		return early, true
	case !t.over && t.began <= answered:
		return late, true
	case !t.over:
		return early, true
	}
	if t.began > answered {
		return late, true
	}
	return between, true
}

// score returns the score of a call and a tool call, without regard to others, and the
// strongest evidence. The score is 0 if the two contradict each other.
func score(c *Call, t *tool, output func(*tool) []string) (points int, by Evidence) {
	note := func(e Evidence, more int) {
		points += more
		if by == NoEvidence {
			by = e
		}
	}
	switch {
	case slices.Contains(c.meta, t.ToolCall.ID):
		note(ByID, forID)
	case t.server == c.Tape.Server && t.tool == c.Name:
		note(ByInput, forInput)
	case t.server != "":
		return 0, NoEvidence // it names another tool
	case t.isCalled(c.words.server, c.words.tool):
		note(ByName, forName)
	case t.claimed != nil:
		return 0, NoEvidence
	}
	if c.arguments != (digest{}) && slices.Contains(t.arguments, c.arguments) {
		note(ByArguments, forArguments)
	}
	if c.says.size > 0 && slices.ContainsFunc(output(t), c.says.isIn) {
		note(ByText, forText)
	}
	if by != ByID && by != ByInput && by != ByName && t.beginsWith(c.words.tool) {
		note(ByTool, forTool)
	}
	return points, by
}

// index returns where words occur as a sequence in text, or -1.
func index(text, words []string) int {
	for i := 0; len(words) > 0 && i+len(words) <= len(text); i++ {
		if slices.Equal(text[i:i+len(words)], words) {
			return i
		}
	}
	return -1
}

// maxOutputs limits how many of the texts that a tool call shows are compared.
const maxOutputs = 64

// outputsOf returns the texts that a tool call shows or returns.
func outputsOf(t *trace.ToolCall) (list []string) {
	var add func(v wire.Value)
	add = func(v wire.Value) {
		switch {
		case len(list) == maxOutputs:
		case v.IsString() && v.Text() != "":
			list = append(list, v.Text())
		case v.IsObject(), v.IsArray():
			v.ForEach(func(_, v wire.Value) bool { add(v); return true })
		}
	}
	for _, item := range t.Content {
		add(wire.ValueAt(item, "content.text"))
		add(wire.ValueAt(item, "text")) // some agents omit the wrapping
	}
	add(wire.ValueOf(t.RawOutput))
	return list
}
