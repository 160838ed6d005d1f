package summary

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// An aftermath is what followed a failure, as the tape tells it. It proves nothing about whether the
// failure was mended, but shows how the agent dealt with it.
type aftermath struct {
	comment  []byte // what the agent said next
	over     bool   // it has done something else since
	deeds    []deed
	with     string // what the call that succeeded was given besides, after a word
	next     bool   // it failed for another reason
	only     string // how it passed, though not as it was
	compiled bool   // only that is known: the tests ran
	skips    bool   // a test was left out in between
	turn     int    // in which it succeeded; 0: none, or unknown
}

// A deed is a call that succeeded after a failure.
type deed struct {
	verb  verb
	name  string // of the file that it changed, the command that it ran, or the tool with what it was given
	apart int    // it may be about something else: it was done in this later turn; 0: it was not
}

// A verb says what a deed did.
type verb uint8

const (
	changed verb = iota
	ran
	called
	verbs
)

// The words for verbs: of what was done, and of how something was mended.
var (
	did   = [verbs]string{"changed", "ran", "called"}
	doing = [verbs]string{"changing", "running", "calling"}
)

// Limits on what is kept of an aftermath.
const (
	maxDeeds       = 3 // as many in later turns
	maxComment     = 320
	deedColumns    = 40
	commentColumns = 200
)

// hear notes what the agent says with a frame: it may be about what has just failed.
func (a *failures) hear(f *dialect.Frame) {
	if !a.listening {
		return
	}
	if u, _ := dialect.LookupUpdate(f.Update); u.Entity != dialect.AgentMessage {
		return
	}
	text := wire.Text(wire.Get(f.Raw, "params", "update", "content", "text"))
	for one := range a.all {
		if after := &one.after; !after.over {
			after.comment = append(after.comment, text[:min(len(text), maxComment-len(after.comment))]...)
		}
	}
}

// heard notes that the agent does something else, or that the turn has ended. What it said before the
// end is its answer, which is told anyway.
func (a *failures) heard(ended bool) {
	if !a.listening {
		return
	}
	a.listening = false
	for one := range a.all {
		if after := &one.after; !after.over {
			if after.over = true; ended {
				after.comment = nil
			}
		}
	}
}

// all yields the failures that are kept.
func (a *failures) all(yield func(*Failure) bool) {
	for how := range a.kept {
		for i := range a.kept[how] {
			if !yield(&a.kept[how][i]) {
				return
			}
		}
	}
}

// follow notes that a call has succeeded after the failure.
func (f *Failure) follow(by *attempt) {
	one := deed{verb: ran, name: by.name()}
	if by.during != f.tried.during && !f.tried.relates(by) {
		one.apart = by.during
	}
	switch more := f.tried.command.Extra(&by.command); {
	case trace.OnlyLooks(f.tried.kind), f.tried.command.Relation(&by.command) == shell.Again: // that is the same
		return
	case by.method != "":
		one.verb, one.name = called, termtext.Spaced(by.object, givenText(by.given))
	case changesFile(by.kind):
		f.after.skips = f.after.skips || skipsTest().MatchString(by.edit)
		one.verb, one.name = changed, termtext.Piece(by.file[strings.LastIndexAny(by.file, `/\\`)+1:])
	case bareTool().MatchString(one.name), one.name == f.tried.name():
		return
	case more != "":
		one.name = by.command.First() + " … " + more
	}
	f.did(one)
}

// skipsTest matches a line that leaves out a test, in the libraries of several languages.
var skipsTest = lazyregexp.New(`^\+ .*(?:\b(?:it|test|describe|t)\.(?:[sS]kip|todo|fixme)\b|\bx(?:it|describe)\(|@(?:Ignore|Disabled|pytest\.mark\.(?:skip|xfail)|unittest\.skip|tag :skip)|#\[ignore|\bSkip ?=|\bXCTSkip)`)

// did keeps a deed: the first one, and the last ones.
func (f *Failure) did(one deed) {
	one.name = cutCommand(one.name, deedColumns)
	first, kept := -1, 0
	for i, other := range f.after.deeds {
		if other.name == one.name {
			return
		}
		if (other.apart == 0) == (one.apart == 0) {
			if kept++; kept == 2 {
				first = i
			}
		}
	}
	if one.name == "" || one.verb == called && kept > 0 { // what is called next tells most
		return
	}
	list := slices.Clone(f.after.deeds)
	if kept == maxDeeds {
		list = slices.Delete(list, first, first+1)
	}
	f.after.deeds = append(list, one)
}

// since says what was done after the failure: until the same succeeded, or at all.
func (f *Failure) since() string {
	mended, lead, words := f.Mended(), "then", did
	if mended {
		lead, words = "after", doing
	}
	var parts []string
	for v, word := range words {
		var names []string
		for _, one := range f.after.deeds {
			if one.verb == verb(v) && (one.apart == 0 || mended && one.apart == f.after.turn) {
				names = append(names, one.name)
			}
		}
		if names != nil {
			parts = append(parts, word+" "+strings.Join(names, ", "))
		}
	}
	if parts == nil {
		return ""
	}
	return lead + " " + strings.Join(parts, " and ")
}

// said returns what the agent said next, in one line.
func (a *aftermath) said() string {
	text := OneLine(termtext.Unmarked(strings.ToValidUTF8(string(a.comment), "")))
	return strings.TrimRight(termtext.CutWords(text, commentColumns), ": ")
}

// Aftermath says what came of the failure: what succeeded later, what was done until then or instead,
// and, if quoted, what the agent said next. It is empty if the tape tells nothing.
func (f *Failure) Aftermath(quoted bool) string {
	text := termtext.Spaced(f.cameTo(), f.Since)
	if f.after.only != "" {
		text = commas(f.after.only, text)
	}
	if quoted && f.Comment != "" {
		text = termtext.Dotted(text, "“"+f.Comment+"”")
	}
	return termtext.Labelled("→", text)
}

// works reports whether a tool call does more than look at something.
func (a *attempt) works() bool {
	return !trace.OnlyLooks(a.kind) && !a.command.Reads()
}
