package completion

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// maxDescription limits the columns of a description: the shell has to fit it and the word
// into the width of the terminal.
const maxDescription = 60

// references completes a REF: last, tapes and sessions (newest first), names, and, after
// +, servers of a tape. If nothing matches, the shell completes file names.
func references(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.ContainsAny(word, `/\.`) {
		return files(c, word)
	}
	l, now := c.listing(), time.Now()
	f := fit{word: word}
	rows := tapelist.Rows(l.Tapes, &l)
	nesting := record.NestingOf(l.Tapes)
	servers := func(name, tape string) {
		children := nesting.Children(tape)
		for i, behind := range record.ServerRefs(children) {
			f.add(name+behind, about(&tapelist.Row{Info: children[i]}, now))
		}
	}
	outer := slices.DeleteFunc(slices.Clone(rows), func(r tapelist.Row) bool { return nesting.Parent(r.Tape) != "" })
	if n := len(outer); n > 0 {
		f.add("last", "the newest tape, "+outer[n-1].Short)
	}
	if plus := strings.LastIndexByte(word, '+'); plus >= 0 {
		servers(word[:plus], c.tape(word[:plus]))
	} else if n := len(outer); n > 0 {
		servers("last", outer[n-1].Tape)
	}
	for _, i := range slices.Backward(outer) {
		f.add(i.Start.Name, "the newest tape of this name")
	}
	for _, r := range slices.Backward(rows) {
		name := r.Short
		if !strings.HasPrefix(name, word) {
			name = r.Tape // the whole id, which begins with a date
		}
		f.add(name, about(&r, now))
	}
	for _, s := range slices.Backward(l.Sessions) {
		f.add(s.ID, "session: "+cmp.Or(s.Topic(), s.Cwd))
	}
	if len(f.list) == 0 {
		return files(c, word)
	}
	return f.newest()
}

// tape returns the id of the tape that a REF names, or "" if there is none.
func (c *Completer) tape(name string) string {
	store, err := c.Store()
	if err != nil {
		return ""
	}
	id, err := ref.In(store).Tape(name)
	if err != nil {
		return ""
	}
	return id
}

// A fit collects the completions of a word, each name once.
type fit struct {
	word string
	list []cobra.Completion
	seen map[string]bool
}

// add adds name with a description if it begins with the word.
func (f *fit) add(name, about string) {
	if name == "" || f.seen[name] || !strings.HasPrefix(name, f.word) || !isTypeable(name) {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[name] = true
	f.list = append(f.list, described(name, about))
}

// newest returns the list, newest first, for a shell that must keep its order.
func (f *fit) newest() ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// sessions completes the id of a session.
func sessions(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f := fit{word: word}
	for _, s := range slices.Backward(c.listing().Sessions) {
		f.add(s.ID, cmp.Or(s.Topic(), s.Cwd))
	}
	return f.newest()
}

// names completes the name of an agent, as the user or the agent itself gave it.
func names(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f := fit{word: word}
	for _, i := range slices.Backward(c.listing().Tapes) {
		f.add(i.Start.Name, "")
		f.add(i.Connection.Agent, "")
	}
	return f.newest()
}

// tags completes the tags that tapes have.
func tags(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f := fit{word: word}
	for _, i := range slices.Backward(c.listing().Tapes) {
		for _, tag := range i.Tags {
			f.add(tag, "")
		}
	}
	return f.newest()
}

// listing returns the store's listing; empty if the store cannot be read.
func (c *Completer) listing() record.Listing {
	store, err := c.Store()
	if err != nil {
		return record.Listing{}
	}
	l, err := store.List()
	if err != nil {
		return record.Listing{}
	}
	return l
}

// about describes a tape.
func about(r *tapelist.Row, now time.Time) string {
	parts := []string{tapetext.Age(now.Sub(r.Start.Time)), tapetext.AgentName(r.Info), tapetext.State(r.Info), r.Title}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// isTypeable reports whether a word is safe on a command line. Agents and files make up ids
// and names: control characters would reach the terminal or end the word, and a word with a
// leading hyphen would be a flag.
func isTypeable(word string) bool {
	return word == termtext.Line(word) && !strings.HasPrefix(word, "-")
}

// described adds a description to a word.
func described(word, about string) cobra.Completion {
	if about == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, termtext.Cut(termtext.Piece(about), maxDescription))
}

// agents completes an agent's program: recorded programs, newest first, then programs in
// PATH. It leaves paths to the shell.
func agents(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.ContainsAny(word, `/\`) {
		return files(c, word)
	}
	f := fit{word: word}
	for _, i := range slices.Backward(c.listing().Tapes) {
		if len(i.Start.Command) > 0 {
			f.add(i.Start.Command[0], "recorded before")
		}
	}
	if word != "" { // otherwise all of PATH would hide the recorded programs
		for _, name := range programs(word) {
			f.add(name, "")
		}
	}
	return f.list, cobra.ShellCompDirectiveKeepOrder
}

// programs returns the names in PATH that begin with word.
func programs(word string) (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), word) && !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
