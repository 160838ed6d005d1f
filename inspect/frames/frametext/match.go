package frametext

import (
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// matchSpans returns a row's summary in at most room columns (0: any number) with the
// matches highlighted. If it has none, the text in the frame around the first one follows.
func (l *Lines) matchSpans(r *Row, f *dialect.Frame, summary string, room int) []termtext.Span {
	at := l.Marks(summary)
	if len(at) == 0 {
		if found := around(f, l.Marks); found != "" {
			summary = strings.TrimPrefix(summary+between+found, between)
			at = l.Marks(summary)
		}
	}
	if room > 0 && len(at) > 0 {
		summary = window(summary, at[0], room)
		at = l.Marks(summary)
	} else if room > 0 {
		summary = termtext.Cut(summary, room)
	}
	return highlighted(r.summarySpans(summary), at)
}

// around returns the first text in a frame that has a match, cut and clean, or "".
func around(f *dialect.Frame, marks func(string) [][2]int) string {
	switch f.Kind {
	case wire.Request, wire.Response, wire.Notification, wire.Batch:
		return aroundIn(wire.ValueOf(f.Raw), marks)
	}
	return excerpt(string(f.Raw), marks)
}

// aroundIn searches the strings in a value, with the names of its members.
func aroundIn(v wire.Value, marks func(string) [][2]int) (found string) {
	if !v.IsObject() && !v.IsArray() {
		return excerpt(v.String(), marks)
	}
	v.ForEach(func(name, value wire.Value) bool {
		found = aroundIn(value, marks)
		switch nested := value.IsObject() || value.IsArray(); {
		case found != "" && !nested && name.Text() != "":
			found = termtext.Piece(name.Text()) + ": " + found
		case found == "" && excerpt(name.Text(), marks) != "":
			found = termtext.Piece(name.Text()) + ": " + termtext.Brief(value.String(), nearby)
		}
		return found == ""
	})
	return found
}

// nearby is how many bytes of a text are kept before and after a match.
const nearby = 120

// excerpt returns what is around the first match in a text.
func excerpt(text string, marks func(string) [][2]int) string {
	at := marks(text)
	if len(at) == 0 {
		return ""
	}
	from, to := max(at[0][0]-nearby, 0), min(at[0][1]+nearby, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	cut := termtext.Brief(text[from:to], 0)
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return cut
}

// window returns the part of a clean text around a match, in at most room columns.
func window(text string, at [2]int, room int) string {
	before, match := termtext.Width(text[:at[0]]), termtext.Width(text[at[0]:at[1]])
	if before+match < room || termtext.Width(text) <= room {
		return termtext.Cut(text, room)
	}
	lead := min(room/3, max(room-match-2, 0), max(before-1, 0)) // what stays before the match
	return termtext.Cut("…"+strings.TrimPrefix(text, termtext.Head(text, max(before-lead, 1))), room)
}

// highlighted returns spans with the ranges of their text highlighted. The ranges are in
// order.
func highlighted(spans []termtext.Span, at [][2]int) (list []termtext.Span) {
	begin := 0
	for _, s := range spans {
		end := begin + len(s.Text)
		for pos := begin; pos < end; {
			for len(at) > 0 && at[0][1] <= pos {
				at = at[1:]
			}
			to, style := end, s.Style
			switch {
			case len(at) == 0:
			case at[0][0] > pos:
				to = min(at[0][0], end)
			default:
				to, style = min(at[0][1], end), termtext.Match
			}
			list = append(list, style.Span(s.Text[pos-begin:to-begin]))
			pos = to
		}
		begin = end
	}
	return list
}
