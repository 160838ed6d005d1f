package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// tell keeps the first calls of a tool that differ in their titles or, of edits, in their
// files. A call may get both late.
func (t *Tally) tell(c *trace.ToolCall) {
	name := stats.ToolName(c)
	if !slices.Contains(t.tools, name) && len(t.tools) < maxNames {
		t.tools = append(t.tools, name)
	}
	list, known := t.told[name]
	again := changes(c) && c.File != "" && slices.ContainsFunc(list, func(o *trace.ToolCall) bool { return o != c && o.File == c.File && !undone(o) })
	switch at := slices.Index(list, c); {
	case at >= 0 && again:
		t.told[name] = slices.Delete(list, at, at+1)
	case at >= 0, again, !known && len(t.told) == maxNames:
	case len(list) == maxTitles:
		if t.more == nil {
			t.more = map[string]bool{}
		}
		t.more[name] = t.more[name] || c.File != ""
	default:
		if t.told == nil {
			t.told = map[string][]*trace.ToolCall{}
		}
		t.told[name] = append(list, c)
	}
}

// undone reports whether a call has changed nothing.
func undone(c *trace.ToolCall) bool { return c.Rejected || c.Cancelled || c.Status == "failed" }

// changes reports whether a call changes a file that has a name.
func changes(c *trace.ToolCall) bool { return changesFile(c.Kind) }

// changesFile reports whether tools of a kind change files.
func changesFile(kind string) bool { return kind == "edit" || kind == "delete" || kind == "move" }

// titles returns what calls of a tool are told by: the names of the files that they change if
// all are known, otherwise their titles. files says which.
func titles(calls []*trace.ToolCall) (list []string, files bool) {
	files = len(calls) > 0
	for _, c := range calls {
		files = files && changes(c) && c.File != ""
	}
	if files {
		calls = slices.DeleteFunc(slices.Clone(calls), undone)
	}
	for _, c := range calls {
		title := cmp.Or(plainTitle(toolTitle(c.Title, "")), stats.ToolName(c))
		if files {
			title = termtext.Piece(fileName(c.File, calls))
		}
		list = append(list, termtext.Cut(title, titleColumns))
	}
	return list, files
}

// fileName returns the end of a path that no other file among calls has: as a rule the name of
// the file, with as many directories as it takes.
func fileName(path string, calls []*trace.ToolCall) string {
	return endOf(path, func(end string) bool {
		return slices.ContainsFunc(calls, func(c *trace.ToolCall) bool { return c.File != path && strings.HasSuffix(c.File, end) })
	})
}

// endOf returns the shortest end of a path that is not taken: the name of a file, with as many
// directories as it takes.
func endOf(path string, taken func(end string) bool) string {
	for i := len(path) - 1; i >= 0; i-- {
		if end := path[i:]; (end[0] == '/' || end[0] == '\\') && !taken(end) {
			return end[1:]
		}
	}
	return path
}

// addTools says which tools were called in turns: a few calls by their titles, changes by the
// files, more calls, and those that only look at something, by their number.
func (s *Summary) addTools(l *line) {
	calls, failed, open := 0, 0, 0
	changed, _ := s.Edits()
	edits := len(changed) > 0
	var told []Count
	for _, one := range s.Tools {
		calls, failed, open = calls+one.Count, failed+one.Failed, open+one.Open
		told = append(told, Count{What: one.What, Count: one.Count})
		last := &told[len(told)-1]
		name, known := kindNames[one.What]
		if known {
			last.What, last.Count = termtext.Counted(one.Count, name), 1
		}
		switch done := one.Count - one.Failed; {
		case trace.OnlyLooks(one.What), one.What == "execute" && len(s.Ran) > 0:
		case one.files && len(one.Titles) == 0:
			told = told[:len(told)-1] // no change was made
		case edits && changesFile(one.What):
			last.What, last.Count = termtext.Counted(one.Count, cmp.Or(name, "change")), 1
		case one.files:
			last.What = one.What
			if last.Count = 1; done > len(one.Titles) {
				last.What += fmt.Sprintf(" ×%s:", termtext.Grouped(int64(done)))
			}
			last.What += " " + strings.Join(one.Titles, ", ")
			if one.more {
				last.What += ", …"
			}
		case one.Count <= len(one.Titles):
			told = told[:len(told)-1]
			for i, title := range one.Titles {
				if i > 0 && title == one.Titles[i-1] {
					told[len(told)-1].Count++
				} else {
					told = append(told, Count{What: title, Count: 1})
				}
			}
		}
	}
	if failed += s.Failures.quiet; calls == 0 {
		return
	}
	l.add(termtext.Plain, termtext.Counted(calls, "tool call"))
	between := " ("
	add := func(style termtext.Style, n int, word string) {
		if n > 0 {
			*l = append(*l, termtext.Plain.Span(between), style.Span(termtext.Grouped(int64(n))+word))
			between = ", "
		}
	}
	add(termtext.Plain, s.Rejected.ToolCalls, " rejected")
	add(termtext.Failure, failed, " failed")
	add(termtext.Failure, open, " unfinished")
	text := termtext.Labelled(":", list(told))
	if between == ", " {
		text = ")" + text
	}
	*l = append(*l, termtext.Plain.Span(text))
}

// kindNames are the words for calls of tools of a kind.
var kindNames = map[string]string{"execute": "command", "read": "read", "edit": "edit", "search": "search", "fetch": "fetch", "delete": "deletion", "move": "move", "think": "thought"}

// addCalls says what was called: tools, and besides them what does not only set up.
func (s *Summary) addCalls(l *line) {
	var methods, tools []Count
	calls := 0
	for _, c := range s.Calls {
		calls += c.Count
		if tools = append(tools, c.Tools...); c.Tools == nil {
			methods = append(methods, Count{What: c.Method, Count: c.Count})
		}
	}
	switch n := s.toolCalls(); {
	case n > 0:
		text := termtext.Counted(n, "tool call")
		if s.Dir != "" {
			text += " in " + termtext.Piece(s.Dir)
		}
		l.add(termtext.Plain, text+": "+list(tools))
		l.add(termtext.Plain, list(slices.DeleteFunc(methods, func(c Count) bool { return setsUp(c.What) })))
	case calls > 0:
		l.add(termtext.Plain, termtext.Counted(calls, "call")+": "+list(methods))
	case s.Frames == 0:
		l.add(termtext.Plain, "no frames")
	default:
		l.add(termtext.Plain, "no turns and no calls")
	}
}

// setsUp reports whether a method only sets up a connection, or lists what may be called.
func setsUp(method string) bool {
	return dialect.AreaOf(method, "") == dialect.LifeCycle || strings.HasSuffix(method, "/list") || method == "ping"
}
