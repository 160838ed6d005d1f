package screen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/record/termtext"
)

// TestKeysInHelp holds the help topic to list the keys as the table has them. With
// -update it is written so.
func TestKeysInHelp(t *testing.T) {
	path := filepath.Join("..", "..", "cmd", "acptap", "help", "inspector.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "\n## Keys\n", "\n## "
	before, rest, ok := strings.Cut(string(text), begin)
	keys, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s: no section of keys, with one behind it", path)
	}
	want := keysMarkdown()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if keys != want {
		t.Errorf("%s (-got +want, which -update writes):\n%s", path, cmp.Diff(keys, want))
	}
}

// keysMarkdown returns the keys as tables, one for each subject.
func keysMarkdown() string {
	var b strings.Builder
	b.WriteString("\nThe last column says where a key works, if that is not everywhere.\n")
	for _, g := range keyTable() {
		fmt.Fprintf(&b, "\n### %s\n\n| | | |\n| --- | --- | --- |\n", g.subject)
		for _, e := range explained(g.keys, anywhere) {
			fmt.Fprintf(&b, "| `%s` | %s |%s |\n", strings.ReplaceAll(strings.Join(e.names, "` `"), "`…`", "…"), e.what, termtext.Labelled("", placesOf(e.where)))
		}
	}
	return b.String()
}

// placesOf names the parts of the screen where a key works.
func placesOf(where part) string {
	if where == anywhere {
		return ""
	}
	var names []string
	for p := inList; p&anywhere != 0; p <<= 1 {
		if name := partWords[p]; where&p != 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

var partWords = map[part]string{
	inList: "frames", inPane: "frame", inStore: "store", inStart: "store", inEmpty: "store", inChat: "chat",
	inFound: "search", inTurns: "turns", inText: "capabilities, statistics", inDiff: "diff", inFindings: "findings", inHelp: "keys", inRules: "rules", inDetails: "details",
}

// TestKeysDoNotClash: in each part of the screen a key does one thing, and everything
// that keys do is explained.
func TestKeysDoNotClash(t *testing.T) {
	for _, g := range keyTable() {
		if g.keys[0].what == asBefore {
			t.Errorf("%s: the first key is not explained", g.subject)
		}
	}
	for p := inList; p&anywhere != 0; p <<= 1 {
		if p != inHelp && partNames[p] == "" {
			t.Errorf("part %b has no name", p)
		}
		seen := map[string]bool{}
		for _, k := range allKeys(keyTable()) {
			for _, name := range k.names {
				if k.where&p == 0 {
					continue
				}
				if seen[name] || len(name) == 2 && seen[name[:1]] {
					t.Errorf("%s does two things %s", name, partNames[p])
				}
				seen[name] = true
			}
		}
	}
}
