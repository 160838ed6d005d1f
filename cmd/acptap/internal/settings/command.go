package settings

import (
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// A command is an entry's command, with its position in the document.
type command struct {
	form    form
	words   []string
	program *hujson.Value // a string; nil if all words are in list
	list    *hujson.Value // an array; nil if there are no arguments

	owner *hujson.Value        // the object that contains program and list
	named *hujson.ObjectMember // the member of owner that holds program
}

// commandOf returns the command of an entry, or nil if it has none. It returns an error
// for a command that the client cannot run either.
func commandOf(entry *hujson.Value, forms []form) (*command, error) {
	for _, f := range forms {
		c := &command{form: f, owner: entry}
		switch said := value(entry, "command"); {
		case f == argv && value(entry, "argv") != nil:
			c.list = value(entry, "argv")
		case f == commandList && said != nil:
			c.list = said
		case f == commandLine && said != nil && member(entry, "args") == nil:
			c.program, c.named = said, member(entry, "command")
		case f == program && said != nil:
			c.program, c.named, c.list = said, member(entry, "command"), value(entry, "args")
		case f == nested && said != nil && said.Value.Kind() == '{':
			c.owner = said
			c.program, c.named, c.list = value(said, "path"), member(said, "path"), value(said, "args")
		default:
			continue
		}
		return c, c.read()
	}
	return nil, nil
}

// read sets words.
func (c *command) read() error {
	if c.named != nil || c.form == nested {
		if !isString(c.program) {
			return fmt.Errorf("its command is no string")
		}
		c.words = []string{text(c.program)}
	}
	if c.form == commandLine {
		var err error
		if c.words, err = splitLine(text(c.program)); err != nil {
			return err
		}
	}
	if c.list != nil {
		array, ok := c.list.Value.(*hujson.Array)
		if !ok {
			return fmt.Errorf("its arguments are no list")
		}
		for i := range array.Elements {
			if !isString(&array.Elements[i]) {
				return fmt.Errorf("argument %d of its command is no string", i+1)
			}
			c.words = append(c.words, text(&array.Elements[i]))
		}
	}
	if len(c.words) == 0 || c.words[0] == "" {
		return fmt.Errorf("its command is empty")
	}
	return nil
}

// elements returns the values in list.
func (c *command) elements() []hujson.Value {
	if c.list == nil {
		return nil
	}
	return c.list.Value.(*hujson.Array).Elements
}

// lead returns the edits that insert own before the words. They keep the spelling of the
// agent's command, but expand a leading ~, which only the client would.
func (d *document) lead(c *command, own []string, home string) []edit {
	elements := c.elements()
	if c.form == commandLine {
		at := c.program.StartOffset + 1
		line := quote(joinLine(own) + " ")
		return []edit{{at, at, line[1 : len(line)-1]}}
	}
	if c.program == nil {
		first := elements[0]
		edits := []edit{{first.StartOffset, first.StartOffset, quoteAll(own) + ", "}}
		if path := expand(c.words[0], home); path != c.words[0] {
			edits = append(edits, edit{first.StartOffset, first.EndOffset, quote(path)})
		}
		return edits
	}
	agent := string(d.of(c.program))
	if path := expand(c.words[0], home); path != c.words[0] {
		agent = quote(path)
	}
	edits := []edit{{c.program.StartOffset, c.program.EndOffset, quote(own[0])}}
	inner := quoteAll(own[1:]) + ", " + agent
	switch m := member(c.owner, "args"); {
	case len(elements) > 0:
		at := elements[0].StartOffset
		return append(edits, edit{at, at, inner + "," + orBlank(lineBreak(elements[0].BeforeExtra))})
	case c.list != nil:
		at := c.list.StartOffset + len("[")
		return append(edits, edit{at, at, inner})
	case m != nil: // null
		return append(edits, edit{m.Value.StartOffset, m.Value.EndOffset, "[" + inner + "]"})
	}
	at := c.program.EndOffset
	return append(edits, edit{at, at, "," + orBlank(lineBreak(c.named.Name.BeforeExtra)) + `"args": [` + inner + "]"})
}

// trail returns the edits that remove the first n words. The last of these must be in
// list, or in the line.
func (d *document) trail(c *command, n int) []edit {
	if c.form == commandLine {
		return []edit{{c.program.StartOffset, c.program.EndOffset, quote(lineFrom(text(c.program), n))}}
	}
	elements := c.elements()
	if c.program == nil {
		return []edit{{elements[0].StartOffset, elements[n].StartOffset, ""}}
	}
	// Element n-1, the agent's program, replaces ours.
	last := elements[n-1]
	edits := []edit{{c.program.StartOffset, c.program.EndOffset, string(d.of(&last))}}
	end := last.EndOffset
	switch {
	case n < len(elements):
		end = elements[n].StartOffset
	case last.AfterExtra != nil: // there is a trailing comma
		end += len(last.AfterExtra) + len(",")
	}
	return append(edits, edit{elements[0].StartOffset, end, ""})
}

// lineBreak returns the blanks before a value that begins a line, otherwise nothing.
func lineBreak(before hujson.Extra) string {
	blanks := string(before)
	if !before.IsStandard() || !slices.Contains([]byte(blanks), '\n') {
		return ""
	}
	return blanks
}

func orBlank(blanks string) string {
	if blanks == "" {
		return " "
	}
	return blanks
}
