package conform_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

// check judges frames as they stand.
func check(frames []dialect.Frame) *conform.Checker {
	made := func(f dialect.Frame) bool { return f.Origin != wire.Wire }
	c := conform.NewChecker(conform.Options{Beginning: true, Between: slices.ContainsFunc(frames, made)})
	for i := range frames {
		c.Add(&frames[i])
	}
	c.End()
	return c
}

// ids returns the rules that are broken, each once.
func ids(findings []conform.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Rule.ID)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestExamples: each rule has a conversation that breaks it and nothing else, in each
// dialect of its clauses, and one that breaks nothing.
func TestExamples(t *testing.T) {
	for _, rule := range conform.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			prose, examples, err := conform.Examples(rule.ID)
			if err != nil {
				t.Fatal(err)
			}
			if prose == "" {
				t.Error("says nothing about its examples")
			}
			var good, cut bool
			var broken dialect.Dialects
			for _, x := range examples {
				if conformtest.Bad(x) && rule.Elsewhere != "" {
					x.Name = "good elsewhere, " + x.Name
					broken |= dialect.SetOf(dialect.ACPv1, dialect.ACPv2Early, dialect.ACPv2)
				}
				frames, err := conformtest.Frames(x)
				if err != nil {
					t.Fatal(err)
				}
				c := check(frames)
				want := []string(nil)
				switch {
				case conformtest.Bad(x):
					want = []string{rule.ID}
					if _, other, ok := strings.Cut(x.Name, " with "); ok { // one side's breach, which the other takes
						want = append(want, other)
						slices.Sort(want)
					}
					broken |= dialect.SetOf(c.Connection().Dialect)
				case strings.HasPrefix(x.Name, "good"):
					good = true
				case strings.HasPrefix(x.Name, "cut"):
					cut = true
				default:
					t.Errorf("%s is neither bad nor good nor cut", x.Name)
				}
				if got := ids(c.Findings()); !slices.Equal(got, want) {
					t.Errorf("%s: found %v, want %v", x.Name, got, want)
					for _, f := range c.Findings() {
						t.Logf("  %s %v frame %d: %s", f.Rule.ID, f.Fault, f.Seq, f.Text)
					}
					for _, v := range c.Verdicts() {
						if v.Rule == rule {
							t.Logf("  tried %v, open %q", v.Tried, v.Open)
						}
					}
				}
			}
			if !good || broken == 0 {
				t.Error("has no good or no bad example")
			}
			if rule.Needs == conform.End && !cut {
				t.Error("is about the end, and has no example that is cut off")
			}
			for _, clause := range rule.Clauses {
				if clause.For&^broken != 0 {
					t.Errorf("no bad example for some of the dialects %b of a clause: there are %b", clause.For, broken)
				}
			}
		})
	}
	files, _ := filepath.Glob("rules/*.txt")
	for _, file := range files {
		if id, _, _ := strings.Cut(filepath.Base(file), "-"); conform.Lookup(id) == nil {
			t.Errorf("%s is of no rule", file)
		}
	}
}

// TestRules: each rule says all that a reader needs, and its id was never another's.
func TestRules(t *testing.T) {
	var list []string
	seen := map[string]bool{}
	for _, r := range conform.Rules() {
		list = append(list, r.ID+" "+r.Name+"\n")
		if seen[r.ID] || seen[r.Name] {
			t.Errorf("%s %s: id or name is there twice", r.ID, r.Name)
		}
		seen[r.ID], seen[r.Name] = true, true
		if r.Text.Asks == "" || r.Text.Finds == "" || r.Text.Do == "" || r.Check == nil || len(r.Clauses) == 0 {
			t.Errorf("%s lacks a text, a check or a clause", r.ID)
		}
		if r.Name == "" || len(r.On) == 0 {
			t.Errorf("%s lacks a name, or what it wants to see", r.ID)
		}
		for _, c := range r.Clauses {
			if c.Strength == conform.None || c.Source.Title == "" || !strings.HasPrefix(c.Source.URL, "https://") || strings.ContainsAny(c.Source.URL, " <>") {
				t.Errorf("%s: a clause without strength or source: %+v", r.ID, c)
			}
			if c.Proposal != dialect.NoProposal && c.Protocol == dialect.ACP || c.Until != "" && c.Until < c.Since {
				t.Errorf("%s: a clause that fits no connection: %+v", r.ID, c)
			}
			for _, on := range r.On {
				unknown := on.Name != ""
				for _, p := range []dialect.Protocol{dialect.ACP, dialect.MCP} {
					_, method := dialect.Lookup(p, on.Name)
					_, update := dialect.LookupUpdate(on.Name)
					unknown = unknown && !method && !update
				}
				if unknown {
					t.Errorf("%s wants to see %q, which no protocol has", r.ID, on.Name)
				}
			}
		}
	}
	var removed []string
	for _, on := range conform.Lookup("ACP701").On {
		removed = append(removed, on.Name)
	}
	for _, m := range dialect.Methods() {
		if m.Protocol() == dialect.ACP && m.Removed.Has(dialect.ACPv2) != slices.Contains(removed, m.Name) {
			t.Errorf("%s is removed in version 2: %v; ACP701 wants to see %v", m.Name, m.Removed.Has(dialect.ACPv2), removed)
		}
	}
	slices.Sort(list)
	got := strings.Join(list, "")
	const file = "testdata/ids.txt" // including removed rules
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the ids are\n%swant those of %s", got, file)
	}
}
