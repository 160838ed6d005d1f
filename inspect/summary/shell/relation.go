package shell

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// A Relation says what a later command is to an earlier one.
type Relation uint8

const (
	Other   Relation = iota // something else
	Similar                 // the same program does something of the kind
	Part                    // it does only a part: some of the tests, or it leaves something out
	Whole                   // it does all of the earlier one, and more: all tests after some, tests after a build
	Again                   // it is the same, perhaps with other flags
)

// Relation says what a later line is to this one, of which the last command counts. It is Other if the
// later exit status may be that of another command, unless that was so before, too.
func (l *Line) Relation(later *Line) Relation {
	if later.Piped && !l.Piped || later.guarded && !l.guarded {
		return Other
	}
	how, _ := l.match(later)
	return how
}

// match returns the command of a later line that is closest to the last one of this line; -1: there is
// none.
func (l *Line) match(later *Line) (how Relation, at int) {
	at = -1
	for i := range later.runs {
		if last := l.last(); last != nil {
			if one := last.relation(&later.runs[i]); one > how {
				how, at = one, i
			}
		}
	}
	return how, at
}

func (r *run) relation(later *run) Relation {
	more, less := lacking(later.given, r.given), lacking(r.given, later.given)
	switch {
	case slices.Equal(r.words, later.words), r.commits() && later.commits(): // perhaps with another message
		return Again
	case compiling().MatchString(r.name) && r.program() == later.program() && compilesFirst().MatchString(later.name) && len(chosen(less)) == 0,
		r.tests() && later.name == "ctest" && !slices.ContainsFunc(later.given, leavesOut().MatchString),
		r.tests() && nodeTest().MatchString(r.name) && everyTest().MatchString(later.name) && len(chosen(later.given)) == 0 && r.name != later.name:
		return Whole
	case r.name != later.name:
		if common := len(r.words) - len(lacking(r.words, later.words)); len(r.words) > 2 && r.program() == later.program() && 2*common > len(r.words) {
			return Similar
		}
		return Other
	case slices.ContainsFunc(more, leavesOut().MatchString):
		return Part
	}
	switch added, left := chosen(more), chosen(less); {
	case len(added)+len(left) == 0:
		return Again
	case len(added) == 0 && r.selects(), r.selects() && covers(added, left):
		return Whole
	case len(left) == 0:
		return Part
	}
	return Similar
}

// lacking returns the words that others do not have, but for those that matter little.
func lacking(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(word string) bool {
		return slices.Contains(others, word) || strings.ContainsAny(word, "<>|") || idle().MatchString(word)
	})
}

// chosen returns the words that are not flags and do not stand for all there is.
func chosen(list []string) []string {
	return slices.DeleteFunc(Plain(list), func(word string) bool { return word == "./..." || word == "//..." || word == "all" })
}

// covers reports whether each path lies in one of some directories.
func covers(dirs, paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") })
	})
}

var (
	// leavesOut matches flags by which a command does only a part of its work.
	leavesOut = lazyregexp.New(`^--(?:path|only|limit|skip|disable|exclude|ignore|filter|without|no-verify|tests?\b|grep)|^-(?:run|k|R|L|Dtest)\b`)
	// idle matches flags that change only what a command prints or how fast it is, and what ends flags.
	idle = lazyregexp.New(`^-(?:[sqvx]+|j\d*|-|-(?:nocapture|verbose|quiet|silent|no-colou?r|colou?r.*|tb.*|jobs.*|summary))$|^always$`)
)

// Extra returns the variables and the words that a later line has besides, if it runs the same program.
func (l *Line) Extra(later *Line) string {
	how, at := l.match(later)
	if how == Other || l.last().commits() {
		return ""
	}
	more := lacking(slices.Concat(later.sets, later.runs[at].words), slices.Concat(l.sets, l.last().words))
	if how == Whole { // not what it does besides
		more = slices.DeleteFunc(more, func(word string) bool { return !IsFlag(word) })
	}
	return strings.Join(more, " ")
}

// Difference says with which words a later line differs from this one, if it runs the same program:
// those that it has besides or, if there are none, the flags that it lacks.
func (l *Line) Difference(later *Line) string {
	if more := l.Extra(later); more != "" {
		return "with " + more
	}
	how, at := l.match(later)
	if how == Other || l.last().commits() {
		return ""
	}
	less := slices.DeleteFunc(lacking(l.last().words, later.runs[at].words), func(word string) bool {
		return !strings.HasPrefix(word, "--") || leavesOut().MatchString(word)
	})
	if len(less) == 0 {
		return ""
	}
	return "without " + strings.Join(less, " ")
}

// Before returns the commands of a later line that come before the one that runs the same program, and
// that this line does not have.
func (l *Line) Before(later *Line) (list []string) {
	_, at := l.match(later)
	for _, one := range later.runs[:max(at, 0)] {
		if !preparing().MatchString(one.name) && !slices.ContainsFunc(l.runs, func(other run) bool { return slices.Equal(one.words, other.words) }) {
			list = append(list, strings.Join(one.words, " "))
		}
	}
	return list
}
