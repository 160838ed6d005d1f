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

// ruleFiles has a file for each rule, ID-NAME.txt, such as ACP441-cancelled-prompt.txt.
// It begins with fields, one per line:
//
//	fault: agent
//	needs: session
//	on: responses from agent: session/prompt session/load
//	clause: violation "MUST NOT" for v1 v2-early: ACP v1, Prompt Turn <https://…>
//	asks: …
//
// The fields are those of Rule and Text; on, clause and hurts may be repeated. Without
// fault, the sender is at fault; without needs, the frame suffices. "hang: yes" says that
// findings may be hangs.
//
// A clause gives its strength, the text's key word, its scope and its source. The scope
// is any of: "for" with protocols or dialects, "with" with a session proposal, "since" and
// "until" with a revision of MCP. A source that names REVISION yields one clause for each
// revision that begins with initialize, starting with that of "since".
//
// After a blank line the file explains its examples. The examples follow as txtar.
//
//go:embed rules/*.txt
var ruleFiles embed.FS

// File returns the name of the file in the folder rules that has r's texts.
func (r *Rule) File() string { return r.ID + "-" + r.Name + ".txt" }

// open returns the fields of the rule's file, and the rest.
func (r *Rule) open() (fields, examples string, err error) {
	data, err := ruleFiles.ReadFile("rules/" + r.File())
	if err != nil {
		return "", "", err
	}
	fields, examples, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		return "", "", errors.New(r.File() + ": no blank line ends the fields")
	}
	return fields, examples, nil
}

// readRules returns the rules of all files by ID, without Check.
func readRules() (map[string]*Rule, error) {
	files, err := ruleFiles.ReadDir("rules")
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Rule, len(files))
	for _, f := range files {
		id, name, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".txt"), "-")
		r := &Rule{ID: id, Name: name}
		fields, _, err := r.open()
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(strings.Clone(fields), "\n") {
			field, value, _ := strings.Cut(line, ": ")
			if err := r.read(field, value); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f.Name(), line, err)
			}
		}
		all[id] = r
	}
	return all, nil
}

// read parses one field.
func (r *Rule) read(name, value string) error {
	switch name {
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
	case "brief":
		r.Text.Brief = value
	case "hurts":
		return r.readVictim(value)
	case "hang":
		r.Hang = value == "yes"
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
	{"messages", Messages}, {"requests", Requests}, {"responses", Responses}, {"results", Results}, {"notifications", Notifications},
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

// everyRevision is a placeholder in a source for the revision of MCP.
const everyRevision = "REVISION"

// legacyRevisions of the Model Context Protocol begin with initialize; newest first.
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

// An Example is a short conversation that breaks or keeps a rule.
type Example struct {
	Name string // bad, good or cut, and perhaps a dialect or other words; "bad with" names a rule that the other side breaks
	Text string // the lines, as conformtest.Frames reads them
}

// Examples returns a rule's conversations and the text that explains them.
func Examples(id string) (prose string, examples []Example, err error) {
	r := Lookup(id)
	if r == nil {
		return "", nil, errors.New("no rule is called " + id)
	}
	_, text, err := r.open()
	if err != nil {
		return "", nil, err
	}
	a := txtar.Parse([]byte(text))
	for _, f := range a.Files {
		examples = append(examples, Example{f.Name, string(f.Data)})
	}
	return strings.TrimSpace(string(a.Comment)), examples, nil
}
