package script

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// TestTopic: the help topic scripts explains all words that the parser knows.
func TestTopic(t *testing.T) {
	topic, err := os.ReadFile("../../cmd/acptap/help/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(topic), -1) {
		for _, word := range regexp.MustCompile(`[\w$]+`).FindAllString(code, -1) {
			explained[word] = true
		}
	}
	for _, word := range slices.Concat(slices.Collect(maps.Keys(messages)), verbs, matchers, signals, serverKinds, modelTurns, choices, tierNames[1:]) {
		if !explained[word] {
			t.Errorf("the topic does not explain %s", word)
		}
	}
}

// TestVerbs: the parser knows each word that it says it expects.
func TestVerbs(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.ACPv1, dialect.MCPLegacy} {
		for _, word := range verbs {
			if _, ok := section("word "+word, d); ok {
				continue
			}
			p := parser{dialect: d, script: &Script{}}
			if m, ok := p.word(0, &cursor{line: word}, Step{}).(*mistake); ok && len(m.valid) == len(verbs) && d == dialect.ACPv1 {
				t.Errorf("%s is no step", word)
			}
		}
	}
}
