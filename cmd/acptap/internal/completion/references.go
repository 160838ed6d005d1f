package completion

import (
	"cmp"
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

// maxDescription is how many columns of a description are given to the shell, which
// has the width of the terminal for it and the word.
const maxDescription = 60

// references completes what a REF may be: last, tapes and sessions, the newest first,
// names, and servers of a tape behind +. Where none begins with the word, the shell
// completes the names of files.
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
			name = r.Tape // from its beginning, which is a date
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

// tape returns the id of the tape that a REF names; "" if there is none.
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

// A fit collects what completes a word, each name once.
type fit struct {
	word string
	list []cobra.Completion
	seen map[string]bool
}

// add adds a name that the word begins, with what it is.
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

// newest returns the list, whose order is that of what was recorded, the newest first.
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

// names completes what an agent is called: by the user, or by itself.
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

// listing returns what the store lists; nothing if it cannot be read.
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

// about says what a tape is.
func about(r *tapelist.Row, now time.Time) string {
	parts := []string{tapetext.Age(now.Sub(r.Start.Time)), tapetext.AgentName(r.Info), tapetext.State(r.Info), r.Title}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// isTypeable reports whether a word can be put on a command line: agents and files make
// up ids and names. Control characters would reach the terminal, or end the word, and
// behind a hyphen stands a flag.
func isTypeable(word string) bool {
	return word == termtext.Line(word) && !strings.HasPrefix(word, "-")
}

// described joins a word and what it is.
func described(word, about string) cobra.Completion {
	if about == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, termtext.Cut(termtext.Piece(about), maxDescription))
}
