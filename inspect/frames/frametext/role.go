package frametext

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// roles are the styles of areas.
var roles = [...]termtext.Style{
	dialect.NoArea:       termtext.Plain,
	dialect.Conversation: termtext.Conversation,
	dialect.Tools:        termtext.Tools,
	dialect.Permission:   termtext.Permission,
	dialect.Services:     termtext.Services,
	dialect.LifeCycle:    termtext.LifeCycle,
}

// Role returns the style of a name, as Name returns it.
func Role(name string) termtext.Style {
	name = strings.TrimPrefix(name, dialect.PassedAlong)
	if _, ok := dialect.LookupUpdate(name); ok {
		return roles[dialect.AreaOf(dialect.SessionUpdate, name)]
	}
	return roles[dialect.AreaOf(name, "")]
}

// role returns the style of a frame's name; summary reports whether its summary has the
// same style.
func (r *Row) role() (role termtext.Style, summary bool) {
	f := r.Frame
	switch {
	case r.Failure != dialect.NoFailure:
		return termtext.Failure, true
	case f.Kind == wire.Mark, f.Kind == wire.Stderr, f.Origin == wire.Withheld:
		return termtext.Dim, true
	}
	return Role(Name(f)), false
}

// summarySpans returns the summary in its style. It dims what the row above already says,
// and ids that another frame must have introduced: of a tool call, a terminal or the
// session.
func (r *Row) summarySpans(summary string) []termtext.Span {
	if role, whole := r.role(); whole {
		return role.Line(summary)
	}
	f := r.Frame
	first, _, _ := strings.Cut(summary, between)
	if known := f.Session != "" && first == termtext.Piece(f.Session) || f.Kind != wire.Response && namesKnown(f) && isID(first); known {
		return []termtext.Span{termtext.Repeats.Span(first), termtext.Plain.Span(summary[len(first):])}
	}
	if r.Again {
		if n := commonParts(summary, r.Above); n > 0 {
			return []termtext.Span{termtext.Repeats.Span(summary[:n]), termtext.Plain.Span(summary[n:])}
		}
	}
	return []termtext.Span{termtext.Plain.Span(summary)}
}

// between separates parts of a summary.
const between = " · "

// commonParts returns the length in bytes of the leading parts of a summary that above
// begins with too.
func commonParts(summary, above string) int {
	n := 0
	for n < len(summary) {
		part, _, _ := strings.Cut(summary[n:], between)
		other, _, _ := strings.Cut(above[min(n, len(above)):], between)
		if part != other {
			break
		}
		n = min(n+len(part)+len(between), len(summary))
	}
	return n
}

// namesKnown reports whether the summary of f may begin with the id of something created
// by an earlier frame.
func namesKnown(f *dialect.Frame) bool {
	switch f.Update {
	case "tool_call_update", "tool_call_content_chunk", "terminal_update", "terminal_output_chunk":
		return true
	}
	return dialect.Does(Name(f), dialect.AsksPermission|dialect.UsesTerminal&^dialect.StartsCommand|dialect.Disconnects|dialect.InputDone|dialect.UsesTask)
}

// isID reports whether text looks like an id rather than a title: it has a digit and no
// blank.
func isID(text string) bool {
	return strings.ContainsAny(text, "0123456789") && !strings.Contains(text, " ")
}
