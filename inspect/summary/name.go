package summary

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// titleColumns limits the columns shown of a title from the wire.
const titleColumns = 40

// quoted returns a title from the wire in quotes after a blank, or nothing if it is empty.
func quoted(title string) string {
	if title = plainTitle(title); title == "" {
		return ""
	}
	return ` "` + cutCommand(title, failedColumns) + `"`
}

// plainTitle returns a title from the wire in one line, without the marks of code that some
// agents put into titles.
func plainTitle(title string) string {
	return strings.ReplaceAll(termtext.Piece(title), "`", "")
}

// stepName returns the name of a tool call, which runs a command if that is known, of a
// permission or of another call.
func stepName(e *trace.Event, command string) string {
	switch e.Kind {
	case trace.ToolCallEvent:
		c := e.ToolCall.ToolCall
		return cutCommand(plainTitle(cmp.Or(toolTitle(c.Title, command), c.Name, c.ID)), failedColumns)
	case trace.PermissionEvent:
		return "permission for" + quoted(toolTitle(permissionTitle(e), command))
	}
	if e.Question != nil {
		return "question" + quoted(e.Question.Message)
	}
	return callName(e)
}

// failedName returns the title of a tool call that failed, or the command that it runs.
func failedName(e *trace.Event, command string) string {
	return cmp.Or(callTitle(e.ToolCall.ToolCall, command), "a tool call")
}

// callTitle returns the title of a tool call, or the command that it runs if that is known.
func callTitle(c *trace.ToolCall, command string) string {
	title := plainTitle(cmp.Or(toolTitle(c.Title, command), c.Name, c.ID))
	if program, rest, more := strings.Cut(title, " "); more && strings.HasPrefix(program, "/") { // without its directory
		title = program[strings.LastIndexByte(program, '/')+1:] + " " + rest
	}
	return cutCommand(title, failedColumns)
}

// cutCommand shortens a title to so many columns. Of a chain of commands it keeps the last ones.
func cutCommand(title string, columns int) string {
	if termtext.Width(title) <= columns {
		return title
	}
	title = shell.WithoutPlaces(pipeEnd().ReplaceAllString(title, ""))
	for termtext.Width(title) > columns {
		_, rest, more := strings.Cut(strings.TrimPrefix(title, "… && "), " && ")
		if !more {
			return cutMiddle(title, columns)
		}
		title = "… && " + rest
	}
	return title
}

// cutMiddle shortens a title to so many columns. Of a command it keeps the beginning and the last
// arguments, which often tell it from others.
func cutMiddle(title string, columns int) string {
	words := strings.Split(title, " ")
	head := termtext.CutWords(title, columns/2)
	if len(words) < 4 || columns < cause.MinHead || !strings.HasSuffix(head, " …") {
		return termtext.CutWords(title, columns)
	}
	tail := ""
	for i := len(words) - 1; i > 0 && termtext.Width(head)+termtext.Width(words[i])+termtext.Width(tail)+1 <= columns; i-- {
		tail = " " + words[i] + tail
	}
	if tail == "" {
		return termtext.CutWords(title, columns)
	}
	return head + tail
}

// pipeEnd matches the end of a command of which only a part of the output is wanted.
var pipeEnd = lazyregexp.New(`(?: 2>&1)? \| (?:tail|head)(?: -n)? -?\d+$|(?: 2>&1)$`)

// failedColumns limits the columns of what failed.
const failedColumns = 60

// toolTitle returns the title of a tool call, or the command that it runs if the title only names
// a tool or has the command in it; without what such a command sets first.
func toolTitle(title, command string) string {
	if command = strings.TrimSpace(command); command != "" && (strings.Contains(title, command) || strings.Contains(command, " ") && bareTool().MatchString(title)) {
		title = command
	}
	return whereNote().ReplaceAllString(setsFirst().ReplaceAllString(title, ""), "")
}

// bareTool matches a title that only names a tool, as Goose does with the extension that has it.
var bareTool = lazyregexp.New(`^(?:\w+: )?\S*$`)

// whereNote matches what Gemini CLI writes into a title after a command.
var whereNote = lazyregexp.New(` \[(?:current working directory|in) [^\]]*\](?: \(.*\))?$`)

// setsFirst matches the change of directory and the variables before a command.
var setsFirst = lazyregexp.New(`^(?:(?:cd \S+ &&|(?:source|\.) \S+ &&|env|\w+=(?:"[^"]*"|'[^']*'|\$\([^()]*\)|\S+)) +)+`)

// permissionTitle returns the title of a permission or, if that only names a tool, of the call that
// it is for.
func permissionTitle(e *trace.Event) string {
	title := e.Permission.Title
	if bareTool().MatchString(title) && e.ToolCall != nil {
		c := e.ToolCall.ToolCall
		return cmp.Or(c.Title, title, c.Name, c.ID)
	}
	return cmp.Or(title, e.Permission.Command)
}

// callName returns the tool that a call calls, otherwise its method; a prompt is one.
func callName(e *trace.Event) string {
	if dialect.Does(e.Method, dialect.Prompts) {
		return "the prompt"
	}
	return termtext.Cut(termtext.Piece(cmp.Or(e.Call.Tool, e.Call.Name())), titleColumns)
}
