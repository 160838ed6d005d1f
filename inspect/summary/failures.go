package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
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
)

// A failures keeps the worst of the failures.
type failures struct {
	count int
	none  int // tool calls that failed because they found nothing, which is an answer
	quiet int // tool calls that failed, though they completed by their status
	kinds [dialect.BadExit + 1]Failed
	kept  [harms][]Failure // the first maxKept of each

	listening bool // what the agent says next may be about one of them
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
			one.Since, one.Comment = one.since(), one.after.said()
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
	if k.Count == 1 {
		k.Kind, k.What, k.Frame = f.Kind, f.What, f.Frame
	}
	if f.why == foundNothing { // an answer, not a failure worth a row
		a.none++
		return
	}
	a.join(&f)
	a.keep(how, f)
}

// keep keeps a failure, which a later success may mend.
func (a *failures) keep(how harm, f Failure) {
	if a.repeat(how, &f) || len(a.kept[how]) >= maxKept {
		return
	}
	if f.open = mendable(f.Kind, &f.tried) && !f.stopped(); f.open {
		f.Fate = notMended
	}
	f.after.over = f.Kind != dialect.FailedTool && f.Kind != dialect.FailedRequest || how == turnFailed
	a.listening = a.listening || !f.after.over
	a.kept[how] = append(a.kept[how], f)
}

// repeat tells a failure with the earlier one of the same, which it replaces. If the same failed for
// another reason, and something was changed in between, the earlier reason is gone. repeat reports
// whether the earlier failure tells this one, too.
func (a *failures) repeat(how harm, f *Failure) (told bool) {
	for _, of := range [...]harm{how, toolFailed} {
		for i := range a.kept[of] {
			before := &a.kept[of][i]
			same := f.tried.same(&before.tried)
			if !before.Mended() && f.uncounted && !before.uncounted && f.why != "" && f.why == before.why && (same || sameWhy(before, f)) {
				return true
			}
			if before.Mended() || before.stopped() || f.stopped() || !same && !sameWhy(before, f) {
				continue
			}
			if same && !sameReason(f.why, before.why) && before.why != "" && f.why != "" && (len(before.after.deeds) > 0 || before.tried.command.Extra(&f.tried.command) != "") {
				before.came(failedOtherwise, f.Frame, false)
				before.after.turn, before.after.next = f.tried.during, true
				if before.after.with = before.tried.command.Difference(&f.tried.command); before.after.with != "" && len(before.after.deeds) == 0 {
					before.Fate = gotRound
				}
				continue
			}
			if before.uncounted != f.uncounted {
				continue
			}
			f.tried = before.tried // a part of it does not mend all
			again := Again{Count: before.times(), Why: f.why, Frame: f.Frame}
			if f.why == before.why {
				again.Why = ""
			}
			f.What, f.why, f.Frame, f.Again = before.What, before.why, before.Frame, &again
			a.kept[of] = slices.Delete(a.kept[of], i, i+1)
			return false
		}
	}
	return false
}

// sameWhy reports whether two commands, or two calls of a tool of a server, have failed for the same
// long reason.
func sameWhy(a, b *Failure) bool {
	runs := a.tried.kind == "execute" && b.tried.kind == "execute"
	calls := a.tried.method == b.tried.method && dialect.Does(a.tried.method, dialect.CallsTool)
	return sameReason(a.why, b.why) && len(a.why) >= cause.MinHead && (runs || calls) && a.tried.object == b.tried.object
}

// sameReason reports whether two reasons are the same but for how much is wrong, and where.
func sameReason(a, b string) bool {
	a, _, _ = strings.Cut(a, " · ")
	b, _, _ = strings.Cut(b, " · ")
	return number().ReplaceAllString(a, "0") == number().ReplaceAllString(b, "0")
}

// number matches a number with what belongs to it, such as a place in a file.
var number = lazyregexp.New(`\d[\d.,:]*(?:[eE][-+]?\d+)?`)

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
			case fate == "", fate == similar && (f.Fate == gotRound || by.command.Shows() && by.method == ""):
			case fate == sameTool && f.advised(&by):
				f.came(succeededLater, at, false)
			case fate == sameTool:
				f.follow(&by)
			case fate == similar:
				f.follow(&by)
				part := f.tried.command.Relation(&by.command) == shell.Part
				if part && f.tried.command.Tests() { // the others may still fail
					continue
				}
				if f.came(gotRound, Frame{}, true); part { // it does only a part
					f.Fate = wentOn
				}
			default:
				with, alone := f.tried.with(&by), len(f.after.deeds) == 0 // nothing was done in between
				if by.method == "" && f.tried.command.Tests() && alone && strings.HasPrefix(with, "with ") {
					f.after.only = "passed only " + termtext.CutWords(with, deedColumns)
					continue
				}
				f.came(fate, at, false)
				f.after.turn, f.after.with = by.during, with
				for _, one := range f.tried.command.Before(&by.command) {
					f.did(deed{verb: ran, name: one})
				}
				alone = len(f.after.deeds) == 0
				if with != "" && (alone || strings.HasPrefix(with, "without")) && !f.tried.misused || f.after.skips && f.tried.command.Tests() {
					f.Fate = gotRound
				}
			}
		}
	}
}

// advised reports whether a later call was given what the failure's reason names.
func (f *Failure) advised(by *attempt) bool {
	return slices.ContainsFunc(by.given, func(one argument) bool {
		return len(one.text) >= minTelling && strings.Contains(f.why, one.text) && !slices.Contains(f.tried.given, one)
	})
}

// stopped notes that the user has stopped a tool call: what it was to mend is not mended.
func (a *failures) stopped(by *attempt) {
	for f := range a.all {
		if f.Kind == dialect.FailedTool && f.tried.method == "" && !f.Mended() && f.tried.mends(by) == succeededLater {
			f.Fate, f.open, f.wentOn, f.after.only = notMended, true, false, "ran again, stopped by the user"
		}
	}
}

// outlived notes that the agent answers in a turn: what made an earlier turn fail is over.
func (a *failures) outlived(e *trace.Event) {
	for f := range a.all {
		if f.open && f.tried.turn > 0 && f.tried.turn < e.Turn.Number && f.tried.object == e.SessionID {
			f.came("the agent answered in "+turnName(e.Turn), Frame{Run: e.Run, Seq: e.Seq}, true)
		}
	}
}

// compiled notes that a command has failed only after what it compiles first: it ran tests.
func (a *failures) compiled(by attempt, at Frame) {
	for _, how := range [...]harm{toolInLast, toolFailed} {
		for i := range a.kept[how] {
			if f := &a.kept[how][i]; !f.Mended() && f.tried.command.Compiles() && f.tried.command.Relation(&by.command) >= shell.Whole {
				f.came(succeededLater, at, false)
				f.after.compiled = true
			}
		}
	}
}

// goOn notes that a tool call has succeeded: the work went on after those of its turn that failed
// before. A change of a file may be an attempt to mend a command; it shows only that the work went on
// after other changes.
func (a *failures) goOn(by *attempt) {
	if !by.works() {
		return
	}
	for f := range a.all {
		if f.Kind != dialect.FailedTool || f.tried.method != "" || f.Mended() || f.Fate == gotRound {
			continue
		}
		f.follow(by)
		if f.open && f.Again == nil && !f.tried.command.Tests() && f.tried.during == by.during && (!changesFile(by.kind) || changesFile(f.tried.kind)) {
			f.came(wentOn, Frame{}, true)
		}
	}
}

// came notes what came of a failure, and with which frame unless that is not told: it was mended, or
// only the work went on.
func (f *Failure) came(fate string, later Frame, wentOn bool) {
	f.Fate, f.Later, f.open, f.passed, f.wentOn = fate, later, false, false, wentOn
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
