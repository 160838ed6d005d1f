package summary

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// An attempt is something that may fail and be tried again: a tool call, a request or a turn.
// The zero value is nothing that can be told again.
type attempt struct {
	title, kind, file string // of a tool call
	command           shell.Line
	edit              string // a line of the change that it makes, as in Change

	method, object string     // of a request, and what it is about; of a turn the prompt and its session; of a tool call its session
	params         uint64     // a hash
	given          []argument // of a tool
	turn           int
	during         int  // the turn of a tool call
	dropped        bool // whoever asked has taken the request back
	missing        bool // the program, or a part of it, was not there
	misused        bool // the request was not understood: its parameters are wrong, or there is no such tool

	says string // what the user was asked: a question, or the command of a tool call
}

// name returns what a tool call does, in a few words.
func (a *attempt) name() string {
	return plainTitle(toolTitle(a.title, strings.Join(a.command.Words, " ")))
}

// turnAttempt returns the attempt that a turn is.
func turnAttempt(e *trace.Event) attempt {
	return attempt{method: "prompt", object: e.SessionID, turn: e.Turn.Number}
}

// callAttempt returns the attempt that a call is that begins with a frame.
func callAttempt(f *dialect.Frame, e *trace.Event) attempt {
	params := wire.Get(f.Raw, "params")
	a := attempt{method: e.Method}
	for _, name := range [...]string{"name", "path", "configId", "command", "uri"} {
		if a.object = wire.Text(wire.Get(params, name)); a.object != "" {
			a.object = strings.Clone(a.object[:min(len(a.object), maxObject)])
			break
		}
	}
	if dialect.Does(e.Method, dialect.AsksInput|dialect.AsksPermission) {
		a.says = termtext.CutWords(termtext.Piece(cmp.Or(wire.Text(wire.Get(params, "message")), commandText(wire.Get(params, "toolCall", "rawInput", "command")))), maxRejection)
	}
	if dialect.Does(e.Method, dialect.CallsTool) {
		a.given = argumentsOf(wire.Get(params, "arguments"))
	} else if e.Method == "authenticate" {
		a.given = argumentsOf(params)
	}
	h := fnv.New64a()
	h.Write(params)
	a.params = h.Sum64()
	return a
}

// triedBy returns the attempt that failed with a frame. call is the one of the request that it
// answers or cancels.
func (t *terminals) triedBy(kind dialect.Failure, f *dialect.Frame, events []trace.Event, call attempt) attempt {
	for i := range events {
		e := &events[i]
		if e.Kind == trace.TurnEvent && e.Phase == trace.Ended && (kind == dialect.Stopped || f.Does(dialect.Prompts)) {
			return turnAttempt(e)
		}
	}
	if e := about(kind, events); e != nil && kind == dialect.FailedTool && e.ToolCall != nil {
		return t.attempt(e)
	}
	if code := wire.ValueOf(wire.Get(f.Raw, "error", "code")); code.IsNumber() {
		call.dropped, call.misused = code.Int() == wire.RequestCancelled, code.Int() == wire.InvalidParams || code.Int() == wire.MethodNotFound
	}
	return call
}

const succeededLater = "mended"

// maxObject limits the bytes kept of what a request is about.
const maxObject = 512

// mends returns what a later success says about the failure of a, or nothing if it is about
// something else.
func (a *attempt) mends(later *attempt) string {
	switch {
	case a.turn > 0:
		if later.turn > a.turn && a.object == later.object {
			return fmt.Sprintf("turn %d was done", later.turn)
		}
	case a.method != "":
		return a.mendsRequest(later)
	case later.method == "":
		return a.mendsCall(later)
	}
	return ""
}

func (a *attempt) mendsRequest(later *attempt) string {
	switch {
	case a.method != later.method || a.object != later.object || later.turn > 0:
	case a.params == later.params:
		return succeededLater
	case dialect.Does(a.method, dialect.CallsTool):
		same := 0
		for _, one := range a.given {
			if slices.Contains(later.given, one) {
				same++
			}
		}
		switch {
		case a.misused, same > 0 && same == len(a.given): // it has other arguments besides
			return succeededLater
		case sameThing(a.given, later.given), same > 0 && doesWork().MatchString(a.object):
			return similar
		}
		return sameTool
	case dialect.Does(a.method, dialect.Sets):
		return "another value was set later"
	case dialect.Does(a.method, dialect.Restores):
		return "another session was loaded"
	case a.object != "", dialect.AreaOf(a.method, "") == dialect.LifeCycle:
		return succeededLater
	}
	return ""
}

func (a *attempt) mendsCall(later *attempt) string {
	sameTitle, sameKind, looks := a.title == later.title, a.kind == later.kind, trace.OnlyLooks(a.kind)
	if !bareTool().MatchString(a.title) && sameTitle && (len(a.given) == 0 || len(later.given) == 0 || alike(a.given, later.given)) {
		return succeededLater
	}
	if changesFile(a.kind) && changesFile(later.kind) && later.file != "" && strings.Contains(a.title, later.file[strings.LastIndexAny(later.file, `/\\`)+1:]) {
		return succeededLater
	}
	if !sameKind {
		return ""
	}
	relation := a.command.Relation(&later.command)
	switch {
	case a.file != "" && a.file == later.file && a.kind != "" && a.kind != "execute",
		relation >= shell.Whole && !looks,
		relation >= shell.Similar && a.missing: // what was missing is there now
		return succeededLater
	case relation >= shell.Similar, sameTitle && !looks && len(a.given) > 0 && alike(a.given, later.given):
		return similar
	}
	return ""
}

// with returns what a later attempt, which succeeded, was given besides.
func (a *attempt) with(later *attempt) string {
	if a.method == "" {
		return a.command.Difference(&later.command)
	}
	more := slices.DeleteFunc(slices.Clone(later.given), func(one argument) bool { return slices.Contains(a.given, one) })
	return termtext.Labelled("with", givenText(more))
}

// doesWork matches names of tools that do not only look at something.
var doesWork = lazyregexp.New(`(?i)(?:^|[_.-])(?:add|apply|book|build|copy|create|deploy|export|generate|insert|make|move|patch|post|publish|put|release|render|reserve|run|save|send|set|start|update|upload|write)`)

// same reports whether an attempt is an earlier one again: the same call of a tool, or the same
// command apart from flags, or a part of its tests.
func (a *attempt) same(earlier *attempt) bool {
	switch {
	case a.method != "":
		return a.method == earlier.method && a.params == earlier.params && a.turn+earlier.turn == 0
	case earlier.method != "" || a.kind != earlier.kind || a.object != earlier.object || trace.OnlyLooks(a.kind):
		return false
	case len(a.command.Words) > 1:
		relation := earlier.command.Relation(&a.command)
		return relation == shell.Again || relation == shell.Part && earlier.command.Tests()
	}
	return a.title == earlier.title && !bareTool().MatchString(a.title) && slices.Equal(a.given, earlier.given)
}

// relates reports whether a later tool call may do instead what failed: it is a similar one, or they
// have a telling word in common.
func (a *attempt) relates(later *attempt) bool {
	if a.mends(later) != "" {
		return true
	}
	words := a.tellingWords()
	return slices.ContainsFunc(later.tellingWords(), func(word string) bool { return slices.Contains(words, word) })
}

// tellingWords returns the words of a title and a command that are about what a tool call does.
func (a *attempt) tellingWords() (list []string) {
	words := a.command.Words
	if !bareTool().MatchString(a.title) {
		words = append(strings.Fields(a.title), words...)
	}
	for _, word := range words {
		word = strings.ToLower(strings.Trim(word, "\"'`.,:;()"))
		word = word[strings.LastIndexByte(word, '/')+1:]
		if len(word) >= minTelling && !shell.IsFlag(word) && !slices.Contains(anyWords, word) {
			list = append(list, word)
		}
	}
	return list
}

const minTelling = 5

// anyWords stand in commands of all kinds.
var anyWords = strings.Fields("tests check build install update files local debug release python python3 running creating")

// repeats reports whether two tool calls are the same, or changes of the same file.
func (a *attempt) repeats(other *attempt) bool {
	return a.kind == other.kind && (a.title == other.title && !bareTool().MatchString(a.title) || a.file != "" && a.file == other.file)
}

// Repeated continues the line about a failure that occurred again. It is empty if it did not.
func (f *Failure) Repeated() (text string) {
	if again := f.Again; again != nil {
		times, why, at := "again", again.Why, again.Frame
		if again.Count > 1 {
			times = fmt.Sprintf("%d times again, last", again.Count)
		}
		if f.tellsLast() {
			if times, why, at = "first", f.why, f.Frame; again.Count > 1 {
				times = fmt.Sprintf("%d times in all, first", f.times())
			}
		}
		text = ", " + times + because(why) + " (frame " + at.Label + ")"
	}
	return text
}

// cameTo says what succeeded later, or that something did. It is empty if nothing is known.
func (f *Failure) cameTo() string {
	if f.Later.Seq == 0 {
		return ""
	}
	text := f.Fate
	switch {
	case f.after.next:
		text = failedOtherwise
	case f.after.compiled:
		text = "compiled"
	case text == succeededLater || text == gotRound:
		text = "passed"
	}
	return termtext.Spaced(text, termtext.CutWords(f.after.with, deedColumns)) + " (frame " + f.Later.Label + ")"
}

// Said says what failed, why, and with which frame: of what is open the last time. The reason begins
// with a colon; it is empty if it is not known.
func (f *Failure) Said() (what, why string, at Frame) {
	what, why, at = strings.TrimSuffix(f.What, because(f.why)), because(f.why), f.Frame
	if f.tellsLast() {
		why, at = because(f.Again.Why), f.Again.Frame
	}
	return what, why, at
}

func (f *Failure) tellsLast() bool { return f.open && f.Again != nil && f.Again.Why != "" }

// Mended reports whether the same succeeded later.
func (f *Failure) Mended() bool { return f.Later.Seq != 0 && !f.wentOn }

// Past reports whether the work went on after it: it was mended, or something else succeeded.
func (f *Failure) Past() bool { return f.Mended() || f.wentOn }

// What came of a failure that was not mended as far as is known.
const (
	notMended = "open"
	wentOn    = "not retried"   // but a later tool call succeeded
	gotRound  = "worked around" // a similar one did, or the same with something besides
	similar   = "a similar call succeeded"

	failedOtherwise = "then the next error"
	gotFurther      = "got further" // the same failed again for another reason
	sameTool        = "another call of it succeeded"
)

// mendable reports whether a failure can be followed by a success that mends it: not if the call
// only looked at something.
func mendable(kind dialect.Failure, a *attempt) bool {
	switch kind {
	case dialect.FailedRequest, dialect.Unanswered:
		return a.method != "" && !a.dropped
	case dialect.Stopped:
		return true
	case dialect.FailedTool:
		return !trace.OnlyLooks(a.kind)
	}
	return false
}

// commandText returns a command, which may be a list of words.
func commandText(command []byte) string {
	if text := wire.Text(command); text != "" {
		return text
	}
	var words []string
	for _, one := range wire.Elements(command) {
		words = append(words, wire.Text(one))
	}
	return strings.Join(words, " ")
}
