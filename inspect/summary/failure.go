package summary

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A harm says how bad a failure is, the worst first.
type harm uint8

const (
	agentDied   harm = iota
	turnFailed       // or was stopped; or setting up the connection or a session
	noAnswer         // to a request
	toolInLast       // a tool call of the last turn
	toolFailed       // of an earlier turn
	askedInVain      // any other request
	bytesLost
	notJSON
	harms
)

// Limits on the failures that are described. The rest are counted.
const (
	maxWorst = 3 // that are told one by one if they were mended
	maxTold  = 16
	maxKept  = 32 // of each harm; a later success may mend them

	nextColumns = 48 // of what succeeded next
)

// A failures keeps the worst of the failures.
type failures struct {
	count int
	quiet int // tool calls that failed, though they completed by their status
	kinds [dialect.BadExit + 1]Failed
	kept  [harms][]Failure // the first maxKept of each
}

// begin notes that a turn begins: calls that failed before are not in the last turn.
func (a *failures) begin() {
	early, late := a.kept[toolFailed], a.kept[toolInLast]
	a.kept[toolFailed] = append(early, late[:min(len(late), maxKept-len(early))]...)
	a.kept[toolInLast] = nil
}

// worst returns the worst failures: those that were not mended first, then in their order.
func (a *failures) worst() (list []Failure) {
	for how, some := range a.kept {
		for _, one := range some {
			if one.grave = harm(how) < toolInLast; !one.joined {
				list = append(list, one)
			}
		}
	}
	rank := func(f *Failure) int {
		switch {
		case f.grave && !f.Mended():
			return 0
		case f.open && !f.passed:
			return 1
		case f.Kind == dialect.Gap || f.Kind == dialect.InvalidLine:
			return 3
		case f.wentOn:
			return 4
		case f.Mended():
			return 5
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b Failure) int {
		order := rank(&a)
		if by := cmp.Compare(order, rank(&b)); by != 0 || order == 0 {
			return by // an agent that died is worse than a turn that failed
		}
		return cmp.Or(cmp.Compare(a.Frame.Run, b.Frame.Run), cmp.Compare(a.Frame.Seq, b.Frame.Seq))
	})
	few := min(len(list), maxWorst)
	list = append(list[:few], slices.DeleteFunc(list[few:], func(f Failure) bool { return rank(&f) == 3 })...) // more like these tell nothing
	return list[:min(len(list), maxTold)]
}

// fates returns how many of the failures were mended, how many were not, and how many others tell.
func (a *failures) fates() (mended, not, joined int) {
	for _, some := range a.kept {
		for i := range some {
			switch f := &some[i]; {
			case f.joined:
				joined++
			case f.open:
				not++
			case f.Mended() && !f.uncounted:
				mended += f.times()
			}
		}
	}
	return mended, not, joined
}

// add counts a failure. tell is called if more is to be kept of it.
func (a *failures) add(how harm, kind dialect.Failure, tell func() Failure) {
	a.count++
	k := &a.kinds[kind]
	k.Count++
	if k.Count > 1 && len(a.kept[how]) >= maxKept {
		return
	}
	f := tell()
	a.join(&f)
	a.keep(how, f)
	if k.Count == 1 {
		k.Kind, k.What, k.Frame = f.Kind, f.What, f.Frame
	}
}

// keep keeps a failure, which a later success may mend.
func (a *failures) keep(how harm, f Failure) {
	if a.repeat(how, &f); len(a.kept[how]) >= maxKept {
		return
	}
	if f.open = mendable(f.Kind, &f.tried) && !f.stopped(); f.open {
		f.Fate = notMended
	}
	if f.why == foundNothing {
		f.Fate, f.open, f.wentOn = wentOn, false, true
	}
	a.kept[how] = append(a.kept[how], f)
}

// repeat tells a failure with the earlier one of the same, which it replaces.
func (a *failures) repeat(how harm, f *Failure) {
	for _, of := range [...]harm{how, toolFailed} {
		for i := range a.kept[of] {
			before := &a.kept[of][i]
			same := before.tried.same(&f.tried)
			if before.Mended() || before.uncounted != f.uncounted || before.stopped() || f.stopped() || !same && !sameWhy(before, f) {
				continue
			}
			if !same {
				f.tried = before.tried
			}
			again := Again{Count: before.times(), Why: f.why, Frame: f.Frame}
			if sameReason(f.why, before.why) {
				again.Why = ""
			}
			f.What, f.why, f.Frame, f.Again = before.What, before.why, before.Frame, &again
			a.kept[of] = slices.Delete(a.kept[of], i, i+1)
			return
		}
	}
}

// sameWhy reports whether two commands have failed for the same long reason: the same test, or error.
func sameWhy(a, b *Failure) bool {
	return sameReason(a.why, b.why) && len(a.why) >= minHead && a.tried.kind == "execute" && b.tried.kind == "execute" && a.tried.object == b.tried.object
}

// sameReason reports whether two reasons are the same but for how much is wrong.
func sameReason(a, b string) bool {
	a, _, _ = strings.Cut(a, " · ")
	b, _, _ = strings.Cut(b, " · ")
	return a == b
}

// times returns how often it failed.
func (f *Failure) times() int {
	if f.Again == nil {
		return 1
	}
	return f.Again.Count + 1
}

// join leaves out the request for a file that failed, if what failed now is the tool call that it
// was for.
func (a *failures) join(call *Failure) {
	if call.Kind != dialect.FailedTool {
		return
	}
	title := strings.TrimSpace(call.tried.title)
	name := title[strings.LastIndexAny(title, " :")+1:]
	for i := range a.kept[askedInVain] {
		f := &a.kept[askedInVain][i]
		path := f.tried.object
		if path != "" && dialect.Does(f.tried.method, dialect.UsesFile) && (call.tried.file == path || strings.Contains(call.What, path) || name != "" && strings.HasSuffix(path, "/"+name)) {
			f.joined = true
		}
	}
}

// mend notes that something has succeeded with a frame that may have failed before.
func (a *failures) mend(by attempt, at Frame) {
	for how := range a.kept {
		for i := range a.kept[how] {
			f := &a.kept[how][i]
			if f.Mended() {
				continue
			}
			switch fate := f.tried.mends(&by); {
			case fate == similar && by.method != "":
				f.Fate, f.Next, f.Later, f.open, f.passed, f.wentOn = fate, "", at, false, false, true
			case fate == similar && by.method == "":
				if !by.command.shows() && f.Again == nil && f.tried.during == by.during {
					f.goOn(&by, at)
				}
			case fate != "":
				f.Fate, f.Next, f.Later, f.open, f.passed, f.wentOn = fate, "", at, false, false, false
			}
		}
	}
}

// goOn notes that a tool call has succeeded with a frame: the work went on after those that failed
// before. A change of a file may be an attempt to mend a command; it shows only that the work went on
// after other changes.
func (a *failures) goOn(by attempt, at Frame) {
	if trace.OnlyLooks(by.kind) || by.command.shows() {
		return
	}
	for _, how := range [...]harm{toolInLast, toolFailed} {
		for i := range a.kept[how] {
			if f := &a.kept[how][i]; (f.open || f.wentOn && f.Next == "" && f.tried.relates(&by)) && f.Again == nil && f.tried.method == "" && f.tried.during == by.during && (!changesFile(by.kind) || changesFile(f.tried.kind)) {
				f.goOn(&by, at)
			}
		}
	}
}

// goOn notes that the work went on after the failure.
func (f *Failure) goOn(by *attempt, at Frame) {
	f.Fate, f.Next, f.Later, f.open, f.passed, f.wentOn = wentOn, "", Frame{}, false, false, true
	if name := by.name(); name != f.tried.name() && f.tried.relates(by) { // the same name would read as if it was mended
		f.Next, f.Later = cutCommand(name, nextColumns), at
	}
}

// done notes that a turn was done in which tool calls had failed. That mends those that only look
// at something; of the others it is not known.
func (a *failures) done(e *trace.Event) {
	for i := range a.kept[toolInLast] {
		f := &a.kept[toolInLast][i]
		t := &f.tried
		if f.Mended() || f.wentOn || f.stopped() || t.object != e.SessionID || t.during != e.Turn.Number {
			continue
		}
		if f.Fate = notMended; trace.OnlyLooks(t.kind) {
			f.Fate, f.Later = turnName(e.Turn)+" was done without it", Frame{Run: e.Run, Seq: e.Seq}
		}
		f.passed = true
	}
}

// list returns the kinds of failures that occurred, most frequent first.
func (a *failures) list() []Failed {
	kinds := slices.DeleteFunc(slices.Clone(a.kinds[:]), func(k Failed) bool { return k.Count == 0 })
	slices.SortStableFunc(kinds, func(a, b Failed) int { return cmp.Compare(b.Count, a.Count) })
	return kinds
}

// harmOf returns how bad a frame's failure is.
func harmOf(kind dialect.Failure, f *dialect.Frame) harm {
	switch kind {
	case dialect.FailedRequest:
		if dialect.Does(f.Method, dialect.Prompts|dialect.Opens|dialect.Initializes) {
			return turnFailed
		}
		return askedInVain
	case dialect.FailedTool:
		return toolInLast
	case dialect.Stopped:
		return turnFailed
	case dialect.Unanswered:
		return noAnswer
	case dialect.Gap:
		return bytesLost
	case dialect.BadExit:
		return agentDied
	}
	return notJSON
}

// failureText says what failed with a frame and its events, and why. A tool that failed has run a
// command, which printed something in a terminal.
func failureText(kind dialect.Failure, f *dialect.Frame, events []trace.Event, command, printed string) (what, why string) {
	e := about(kind, events)
	switch kind {
	case dialect.FailedRequest:
		return failedRequest(f, e, turnOf(f, events))
	case dialect.FailedTool:
		if e == nil {
			return "a tool call", ""
		}
		update := wire.Get(f.Raw, "params", "update")
		why = toolFault(update, printed)
		switch code, _ := exitOf(update); {
		case stoppedLine.MatchString(why):
			why = stoppedByYou
		case code == 1 && why == "exit 1" && saysNo(cmp.Or(command, e.ToolCall.ToolCall.Title)):
			why = foundNothing
		case isTimeout(command, code) && !saysFault(why):
			why = stoppedByTimeout
		}
		return failedName(e, command), why
	case dialect.Stopped:
		if e == nil {
			return "a turn", ""
		}
		return turnName(e.Turn), stopText(e.Turn)
	case dialect.InvalidLine:
		return "a line that is not JSON-RPC", ""
	case dialect.Gap:
		m := wire.ReadMark(f.Frame)
		return termtext.ByteSize(m.Gap+m.Damage) + " not recorded", ""
	case dialect.BadExit:
		if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
			return termtext.Brief(dialect.DiedOf(exit).Brief(), 60), ""
		}
	}
	return kind.String(), ""
}

// stoppedLine matches what is printed if the user has stopped a command.
var stoppedLine = regexp.MustCompile(`(?i)\b(?:stopped|interrupted|killed|terminated|cancelled|canceled|aborted) by (?:the )?user\b`)

const (
	stoppedByYou     = "stopped by you"
	stoppedByTimeout = "stopped by timeout"
	foundNothing     = "found nothing"
)

// stopped reports whether a failure is a command that the user or its own timeout has stopped.
func (f *Failure) stopped() bool {
	return strings.HasSuffix(f.What, ": "+stoppedByYou) || strings.HasSuffix(f.What, ": "+stoppedByTimeout)
}

// isTimeout reports whether a command has exited because of a timeout that it set itself, as
// the program of that name says (GNU coreutils).
func isTimeout(command string, code int64) bool {
	chain := parseCommand(command).chain
	return code == 124 && len(chain) > 0 && chain[len(chain)-1][0] == "timeout"
}

// Sign returns the sign before a failure.
func (f *Failure) Sign() string {
	switch {
	case f.stopped():
		return dialect.Cancelled.Sign()
	case f.wentOn, f.passed && f.Later.Seq != 0: // the turn was done without it
		return "~"
	case f.Mended():
		return dialect.Done.Sign()
	}
	return dialect.Errored.Sign()
}

// Word says in a word what came of a failure. It is empty if nothing could mend it.
func (f *Failure) Word() string {
	switch {
	case f.Sign() == "~":
		return "went on"
	case f.Mended():
		return succeededLater
	case f.Fate != "":
		return notMended
	}
	return ""
}

// MarkStyle returns the style of a failure's sign and word.
func (f *Failure) MarkStyle() termtext.Style {
	switch f.Sign() {
	case "~":
		return termtext.Slow
	case dialect.Done.Sign():
		return termtext.Good
	case dialect.Cancelled.Sign():
		return termtext.Plain
	}
	return termtext.Failure
}

// Style returns the style of a failure: red unless it was mended, its turn was done all the same, or
// it is the user's own doing.
func (f *Failure) Style() termtext.Style {
	if f.Mended() || f.wentOn || f.passed || f.stopped() {
		return termtext.Plain
	}
	return termtext.Failure
}

// about returns the event that a failure of a kind concerns, or nil.
func about(kind dialect.Failure, events []trace.Event) *trace.Event {
	for i := range events {
		e := &events[i]
		failed := e.Phase == trace.Ended && e.End == trace.Failed
		switch {
		case kind == dialect.FailedTool && e.Kind == trace.ToolCallEvent && failed,
			kind == dialect.FailedRequest && e.Kind == trace.CallEvent && failed,
			kind == dialect.Stopped && e.Kind == trace.TurnEvent && e.Phase == trace.Ended:
			return e
		}
	}
	return nil
}

// turnOf returns the turn that ended with a response to its prompt, or nil.
func turnOf(f *dialect.Frame, events []trace.Event) *trace.Turn {
	for i := range events {
		if e := &events[i]; e.Kind == trace.TurnEvent && e.Phase == trace.Ended && f.Does(dialect.Prompts) && e.Turn.Outcome.How == dialect.Errored {
			return e.Turn
		}
	}
	return nil
}

// turnName returns what to call a turn.
func turnName(t *trace.Turn) string { return fmt.Sprint("turn ", t.Number) }

// stopText says how a turn ended that did not fail with an error.
func stopText(t *trace.Turn) string {
	switch t.StopReason {
	case "refusal":
		return "refused by the agent"
	case "max_turn_requests":
		return "request limit reached"
	}
	return t.Outcome.String()
}

// failedRequest says which request failed, and why.
func failedRequest(f *dialect.Frame, e *trace.Event, turn *trace.Turn) (name, why string) {
	name = termtext.Piece(f.Name())
	if f.Kind == wire.Response {
		why = termtext.Piece(dialect.ErrorText(wire.Get(f.Raw, "error")))
	}
	switch {
	case turn != nil:
		name, why = turnName(turn), termtext.Piece(turn.Outcome.Brief())
	case e != nil:
		name = callName(e)
	}
	if why == "" {
		why = toolText(wire.Get(f.Raw, "result", "content"))
	}
	return cmp.Or(name, "a request nobody has sent"), why
}

// because returns what follows the name of something that failed.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + cutWhy(why, whyColumns)
}

// cutWhy shortens a reason to so many columns. Of errors that explain one another, it keeps the last
// ones and the beginning of the first.
func cutWhy(why string, columns int) string {
	if termtext.Width(why) <= columns {
		return why
	}
	for at := 0; ; {
		next := strings.Index(why[at:], ": ")
		if next < 0 {
			return termtext.CutWords(why, columns)
		}
		at += next + len(": ")
		switch room := columns - termtext.Width(why[at:]) - 1; {
		case room >= minHead:
			return termtext.CutWords(why[:at], room) + " " + why[at:]
		case room > 0:
			return "… " + why[at:]
		}
	}
}

// minHead is the smallest number of columns of the first of several errors that are told.
const minHead = 16

// saysNothing reports whether a turn, or setting up, failed without a message that says why.
func saysNothing(kind dialect.Failure, f *dialect.Frame) bool {
	switch {
	case kind == dialect.Stopped:
		return string(wire.Get(f.Raw, "params", "update", "stopReason")) == `"error"` // version 2
	case kind != dialect.FailedRequest || !dialect.Does(f.Method, dialect.Prompts|dialect.Opens|dialect.Initializes):
		return false
	}
	switch strings.ToLower(strings.TrimRight(dialect.ErrorText(wire.Get(f.Raw, "error")), ".")) {
	case "", "error", "internal error", "internal server error", "server error", "unknown error":
		return true
	}
	return false
}
