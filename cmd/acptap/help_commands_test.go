package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/help"
	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/inspect/frames/filter"
)

// A shownCommand is a command line of acptap that a text shows.
type shownCommand struct {
	args  []string
	whole bool // with all of its arguments; else only flags are checked
}

// shownCommands returns the commands in a Markdown text: those in code blocks, and
// code in the text that begins so.
func shownCommands(markdown string) (commands []shownCommand) {
	code := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code || strings.HasPrefix(line, "    "):
			for _, args := range acptapCalls(line) {
				commands = append(commands, shownCommand{args, true})
			}
		default:
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
				if text, ok := strings.CutPrefix(m[1], "acptap "); ok && !strings.Contains(m[1], ": ") {
					commands = append(commands, shownCommand{shellWords(text), false})
				}
			}
		}
	}
	return commands
}

var (
	callStart = regexp.MustCompile(`(^|\| |^\$ )\s*((ssh \w+ |ACPTAP_\w+=\S+ )?acptap|go run \./cmd/acptap) `)
	comment   = regexp.MustCompile(`(\s{3,}|\s#).*$`)
)

// acptapCalls returns the arguments of each call of acptap in a line of a shell,
// behind which there may be a comment.
func acptapCalls(line string) (calls [][]string) {
	line = strings.TrimSpace(line)
	for {
		at := callStart.FindStringIndex(line)
		if at == nil {
			return calls
		}
		line = line[at[1]:]
		call := comment.ReplaceAllString(line, "")
		words := shellWords(call)
		if end := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == ">" || w == ">>" }); end >= 0 {
			words = words[:end]
		}
		calls = append(calls, words)
	}
}

// shellWords splits a line at blanks outside of quotes.
func shellWords(line string) (words []string) {
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(m))
		if strings.HasPrefix(m, "'") {
			words[len(words)-1] = strings.Trim(m, "'")
		}
	}
	return words
}

func (c shownCommand) check(t *testing.T, where string) {
	t.Helper()
	root := newRootCmd(nil)
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(c.args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) || !c.whole && err != nil && strings.HasPrefix(err.Error(), "flag needs an argument") {
		err = nil
	}
	args := cmd.Flags().Args()
	if err == nil && c.whole {
		err = cmd.ValidateArgs(args)
	}
	if err == nil && cmd.Name() == "help" && len(args) == 1 {
		if _, ok := help.Find(args[0]); !ok {
			_, _, err = root.Find(args)
		}
	}
	query := ""
	if cmd.Name() == "search" && c.whole {
		query = strings.Join(args, " ")
	} else if f := cmd.Flags().Lookup("filter"); f != nil {
		query = f.Value.String()
	}
	if err == nil {
		_, err = filter.Parse(query)
	}
	if err != nil {
		t.Errorf("%s: acptap %q: %v", where, c.args, err)
	}
}

// Every command line in the topics, the README and the examples is one that acptap
// takes, with its flags, number of arguments and queries.
func TestShownCommands(t *testing.T) {
	for where, text := range shownTexts(t) {
		for _, c := range shownCommands(text) {
			c.check(t, where)
		}
	}
	if n := len(shownCommands(shownTexts(t)["README.md"])); n < 10 {
		t.Errorf("only %d commands found in the README", n)
	}
	for _, wrong := range []string{"    acptap shwo last", "    acptap show --nothing last", "    acptap show a b", "    acptap search 'is:nothing'", "`acptap help nothing`"} {
		found := shownCommands(wrong)
		if len(found) != 1 {
			t.Errorf("%q: found %v", wrong, found)
		}
	}
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for line := range strings.Lines(commands.Of(cmd).Examples) {
			calls := acptapCalls(line)
			if len(calls) == 0 && strings.TrimSpace(line) != "acptap" && !strings.HasPrefix(line, "  acptap  ") {
				t.Errorf("%s: no command in the example %q", cmd.CommandPath(), line)
			}
			for _, args := range calls {
				shownCommand{args, true}.check(t, cmd.CommandPath())
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "completion" {
				every(sub)
			}
		}
	}
	every(newRootCmd(nil))
}

func shownTexts(t *testing.T) map[string]string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"README.md": string(readme)}
	for _, topic := range help.Topics() {
		texts[topic.Name] = topic.Markdown
	}
	return texts
}

// Flags that a text names exist.
func TestShownFlags(t *testing.T) {
	known := map[string]bool{"--help": true, "--version": true, "--acp": true, "--token": true} // the last two are not acptap's
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for name := range strings.FieldsSeq(cmd.Flags().FlagUsages() + cmd.PersistentFlags().FlagUsages()) {
			known[strings.TrimRight(name, ",")] = true
		}
		for _, sub := range cmd.Commands() {
			every(sub)
		}
	}
	every(newRootCmd(nil))
	for where, text := range shownTexts(t) {
		for _, m := range regexp.MustCompile("`(--[a-z-]+)").FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				t.Errorf("%s: no command has %s", where, m[1])
			}
		}
	}
}

// The targets of the README's links exist, and the README is short.
func TestREADME(t *testing.T) {
	readme := shownTexts(t)["README.md"]
	const most = 10400
	if len(readme) > most {
		t.Errorf("%d bytes, more than %d", len(readme), most)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme, -1) {
		if strings.HasPrefix(m[1], "https://") {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("link to %s: %v", m[1], err)
		}
	}
	for _, topic := range help.Topics() {
		if !strings.Contains(readme, "cmd/acptap/help/"+topic.Name+".md") {
			t.Errorf("no link to the topic %s", topic.Name)
		}
	}
}

// TestCommandTable holds the README's table of commands to list each command once, and
// none that does not exist.
func TestCommandTable(t *testing.T) {
	_, table, _ := strings.Cut(shownTexts(t)["README.md"], "\n| command |")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := make(map[string]int)
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, m := range regexp.MustCompile("`acptap ([a-z -]+)").FindAllStringSubmatch(cell, -1) {
			cmd, _, err := newRootCmd(nil).Find(strings.Fields(m[1]))
			if err != nil {
				t.Errorf("row %q: %v", cell, err)
				continue
			}
			listed[cmd.CommandPath()]++
		}
	}
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.IsAvailableCommand() || sub.Name() == "completion" {
				continue
			}
			every(sub)
			if n := listed[sub.CommandPath()]; n > 1 || n == 0 && !sub.HasAvailableSubCommands() {
				t.Errorf("%s has %d rows", sub.CommandPath(), n)
			}
		}
	}
	every(newRootCmd(nil))
}

// The topic filters tells of every key, and of every word that a key takes.
func TestFiltersTopic(t *testing.T) {
	topic, _ := help.Find("filters")
	for _, k := range filter.Keys() {
		for _, word := range append(k.Words(), k.Name) {
			if !strings.Contains(topic.Markdown, "`"+word+"`") && !strings.Contains(topic.Markdown, "`"+k.Name+":"+word+"`") {
				t.Errorf("nothing about %s of %s", word, k.Name)
			}
		}
	}
}

func TestHelpCompletion(t *testing.T) {
	var out bytes.Buffer
	run(context.Background(), []string{"__complete", "help", ""}, nil, &out, &out)
	for _, want := range []string{"filters\tFilters and search\n", "show\t", "trouble\t"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// Man pages are written for every command and topic.
func TestWriteMan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man")
	var out bytes.Buffer
	if status := run(context.Background(), []string{"help", "--man", dir}, nil, &out, &out); status != 0 || out.Len() > 0 {
		t.Fatalf("status %d: %s", status, out.String())
	}
	for _, tt := range []struct{ path, want string }{
		{"man1/acptap.1", `acptap\-filters(7)`},
		{"man1/acptap.1", "COMMANDS\n.TP\n"},
		{"man1/acptap-replay-agent.1", `(default content)`},
		{"man1/acptap-show.1", `\fB\-f, \-\-follow\fR`},
		{"man1/acptap-replay-agent.1", "EXAMPLES"},
		{"man1/acptap-help.1", "SYNOPSIS"},
		{"man7/acptap-filters.7", "key\\(tiregexp"},
	} {
		page, err := os.ReadFile(filepath.Join(dir, tt.path))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(page), tt.want) {
			t.Errorf("%s: no %s", tt.path, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "man1/acptap-demo-agent.1")); err == nil {
		t.Error("a page for a hidden command")
	}
	if testing.Short() {
		t.Skip("groff takes seconds, and shows the same whatever wrote the pages")
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff")
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man*", "*"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	cmd := exec.Command(groff, append(strings.Fields("-t -man -K utf8 -T utf8 -w w"), pages...)...)
	var text, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &complaints
	if err := cmd.Run(); err != nil || complaints.Len() > 0 || text.Len() == 0 {
		t.Errorf("%v, %d bytes of text\n%s", err, text.Len(), complaints.String())
	}
	shown := strings.ReplaceAll(text.String(), "‐", "-")
	for _, page := range pages {
		name := filepath.Base(page)
		at := strings.LastIndexByte(name, '.')
		if head := name[:at] + "(" + name[at+1:] + ")"; strings.Count(strings.ToLower(shown), head) < 2 { // at both ends of its first line
			t.Errorf("%s is not shown", head)
		}
	}
}
