package script

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// TestRuleExamples: the messages in examples of rules are written as those of scripts. What
// else such examples have is about tapes: HTTP, marks, times, and messages that acptap made.
func TestRuleExamples(t *testing.T) {
	message := regexp.MustCompile(`^[<>] (\{|raw )`)
	n := 0
	for _, rule := range conform.Rules() {
		_, examples, err := conform.Examples(rule.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			for line := range strings.Lines(x.Text) {
				if !message.MatchString(line) {
					continue
				}
				n++
				s, err := Parse(rule.ID, line, dialect.ACPv1)
				if err != nil {
					t.Error(err)
					continue
				}
				if _, object, ok := strings.Cut(line, " {"); ok && s.Steps[0].Verb == Message {
					want, err := decode([]byte("{" + object))
					if err != nil || !bytes.Equal(encode(s.Steps[0].Value), encode(want)) {
						t.Errorf("%s: %s, %v", rule.ID, line, err)
					}
				}
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d messages", n)
	}
}
