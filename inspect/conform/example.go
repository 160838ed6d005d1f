package conform

import (
	"strings"

	"golang.org/x/tools/txtar"
)

// An Example is a short conversation that breaks a rule, or keeps it.
type Example struct {
	Name string // bad, good or cut, perhaps with a dialect or other words behind it: "bad with" is followed by a rule that the other side breaks
	Text string // the lines, as conformtest.Frames reads them
}

// Examples returns the conversations of a rule, and what is said about them.
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
