package conform

import (
	"embed"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// ruleFiles has a file for each rule. It begins with fields, one a line:
//
//	name: cancelled-prompt
//	fault: agent
//	needs: session
//	on: responses from agent: session/prompt session/load
//	clause: violation "MUST NOT" for v1 v2-early: ACP v1, Prompt Turn <https://…>
//	asks: …
//
// The fields are those of Rule and Text; there may be several lines on and clause. Without
// fault, the sender is at fault; without needs, the frame is enough.
//
// A clause gives its strength, the word of the text, its scope and its source. The scope
// is any of: for and protocols or dialects, with and a session proposal, since and until
// and a revision of MCP. A source that names REVISION makes one clause for each revision
// that begins with initialize, from since on.
//
// After a blank line the file says what its examples show. The examples follow as txtar.
//
//go:embed rules/*.txt
var ruleFiles embed.FS

// openRule returns the fields of a rule's file, and the rest.
func openRule(id string) (fields, examples string, err error) {
	data, err := ruleFiles.ReadFile("rules/" + id + ".txt")
	if err != nil {
		return "", "", err
	}
	fields, examples, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		return "", "", errors.New(id + ": no blank line ends the fields")
	}
	return fields, examples, nil
}

// readRule reads the file of a rule, without Check.
func readRule(id string) (*Rule, error) {
	fields, _, err := openRule(id)
	if err != nil {
		return nil, err
	}
	r := &Rule{ID: id}
	for line := range strings.SplitSeq(strings.Clone(fields), "\n") {
		name, value, _ := strings.Cut(line, ": ")
		if err := r.read(name, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", id, line, err)
		}
	}
	return r, nil
}

// read parses one field.
func (r *Rule) read(name, value string) error {
	switch name {
	case "name":
		r.Name = value
	case "fault":
		return r.Fault.UnmarshalText([]byte(value))
	case "needs":
		return wire.ParseName(needsNames[:], "need", []byte(value), (*uint8)(&r.Needs))
	case "about":
		r.About = value
	case "on":
		return r.readOn(value)
	case "clause":
		return r.readClause(value)
	case "asks":
		r.Text.Asks = value
	case "finds":
		r.Text.Finds = value
	case "spares":
		r.Text.Spares = value
	case "do":
		r.Text.Do = value
	case "elsewhere":
		r.Elsewhere = value
	default:
		return errors.New("unknown field")
	}
	return nil
}

var needsNames = [...]string{"frame", "pair", "hello", "session", "connection", "end"}

// kindsNames are the words for kinds of steps.
var kindsNames = [...]struct {
	name  string
	kinds Kinds
}{
	{"messages", Messages}, {"requests", Requests}, {"responses", Responses}, {"notifications", Notifications},
	{"invalids", Invalids}, {"batches", Batches}, {"oversizeds", Oversizeds}, {"exchanges", Exchanges}, {"ends", Ends},
}

// readOn parses KINDS [from SIDE][: NAMES].
func (r *Rule) readOn(value string) error {
	var on On
	value, names, _ := strings.Cut(value, ": ")
	kinds, from, _ := strings.Cut(value, " from ")
	if err := wire.ParseName([]string{"", "client", "agent"}, "side", []byte(from), (*uint8)(&on.From)); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(kinds) {
		before := on.Kinds
		for _, k := range kindsNames {
			if k.name == word {
				on.Kinds |= k.kinds
			}
		}
		if on.Kinds == before {
			return fmt.Errorf("unknown kind %q", word)
		}
	}
	if names == "" {
		r.On = append(r.On, on)
	}
	for on.Name = range strings.FieldsSeq(names) {
		r.On = append(r.On, on)
	}
	return nil
}

// everyRevision stands for the revision of MCP in a source that each revision has.
const everyRevision = "REVISION"

// legacyRevisions of the Model Context Protocol begin with initialize; the newest first.
var legacyRevisions = [...]string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// readClause parses STRENGTH ["WORD"] [SCOPE]: TITLE <URL>.
func (r *Rule) readClause(value string) error {
	var c Clause
	scope, source, _ := strings.Cut(value, ": ")
	if before, after, quoted := strings.Cut(scope, ` "`); quoted {
		c.Word, after, _ = strings.Cut(after, `"`)
		scope = before + after
	}
	strength, scope, _ := strings.Cut(scope, " ")
	if err := c.Strength.UnmarshalText([]byte(strength)); err != nil {
		return err
	}
	if err := c.readScope(scope); err != nil {
		return err
	}
	if !strings.Contains(source, everyRevision) {
		r.add(c, source)
		return nil
	}
	first := c.Since
	for i, revision := range legacyRevisions {
		if revision < first {
			break
		}
		c.Since = revision
		if first == "" && i == len(legacyRevisions)-1 {
			c.Since = "" // there were drafts before
		}
		r.add(c, strings.ReplaceAll(source, everyRevision, revision))
	}
	return nil
}

// add adds a clause with its source.
func (r *Rule) add(c Clause, source string) {
	c.Source.Title, c.Source.URL, _ = strings.Cut(strings.TrimSuffix(source, ">"), " <")
	r.Clauses = append(r.Clauses, c)
}

// readScope parses the scope of a clause: pairs of a key and its values.
func (c *Clause) readScope(scope string) (err error) {
	key := ""
	for word := range strings.FieldsSeq(scope) {
		var d dialect.Dialect
		switch {
		case word == "for", word == "with", word == "since", word == "until":
			key = word
		case key == "for" && c.Protocol.UnmarshalText([]byte(word)) == nil:
		case key == "for":
			err = d.UnmarshalText([]byte(word))
			c.For |= dialect.SetOf(d)
		case key == "with":
			err = c.Proposal.UnmarshalText([]byte(word))
		case key == "since":
			c.Since = word
		case key == "until":
			c.Until = word
		default:
			err = fmt.Errorf("unknown scope %q", word)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An Example is a short conversation that breaks a rule, or keeps it.
type Example struct {
	Name string // bad, good or cut, and perhaps a dialect or other words; "bad with" names a rule that the other side breaks
	Text string // the lines, as conformtest.Frames reads them
}

// Examples returns the conversations of a rule and the text about them.
func Examples(id string) (prose string, examples []Example, err error) {
	_, text, err := openRule(id)
	if err != nil {
		return "", nil, err
	}
	a := txtar.Parse([]byte(text))
	for _, f := range a.Files {
		examples = append(examples, Example{f.Name, string(f.Data)})
	}
	return strings.TrimSpace(string(a.Comment)), examples, nil
}
