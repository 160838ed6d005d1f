package wrap

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/settings"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// writeClients lists the entries of clients. If files cannot be read, it reports them and
// returns an error.
func (o *flags) writeClients(out, stderr io.Writer, s *settings.Setup, clients []*settings.Client) error {
	var absent, byHand []string
	var failed error
	entries := 0
	for _, c := range clients {
		if !c.IsFile() {
			byHand = append(byHand, c.Name)
			continue
		}
		files, err := o.files(s, c, len(clients) == 1)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			absent = append(absent, c.Name)
		}
		for _, path := range files {
			list, err := s.Entries(c, path)
			if err != nil && len(clients) == 1 {
				return err
			}
			if err != nil {
				cli.Warn(stderr, "%v", err)
				failed = errors.New("not all settings could be read")
				continue
			}
			entries += len(list)
			if err := o.writeEntries(out, s, c, path, list); err != nil {
				return err
			}
		}
	}
	if o.asJSON {
		return failed
	}
	if len(clients) > 1 && entries == 0 {
		fmt.Fprintln(out, "No entries found; acptap wrap CLIENT --new NAME -- AGENT… adds one.")
	}
	if entries > 0 {
		fmt.Fprintf(out, "\nTo wrap one: acptap wrap CLIENT ENTRY. All of a client: acptap wrap CLIENT --all.\n")
	}
	if len(absent) > 0 {
		fmt.Fprintf(out, "No settings found of %s.\n", strings.Join(absent, ", "))
	}
	if len(byHand) > 0 {
		fmt.Fprintf(out, "Lines to paste: acptap wrap %s.\n", strings.Join(byHand, ", "))
	}
	return failed
}

// files returns the files of a client to list. If asked is set, it includes the file that
// the user asked for even if it is missing.
func (o *flags) files(s *settings.Setup, c *settings.Client, asked bool) ([]string, error) {
	files := s.Files(c)
	if asked && (o.file != "" || o.project || len(files) == 0) {
		path, err := o.path(s, c)
		return []string{path}, err
	}
	return files, nil
}

func (o *flags) writeEntries(out io.Writer, s *settings.Setup, c *settings.Client, path string, list []settings.Entry) error {
	if o.asJSON {
		return cli.WriteJSONLines(out, list, func(e settings.Entry) any { return e })
	}
	fmt.Fprintf(out, "%s · %s\n", c.Name, termtext.Line(s.Machine.Short(path)))
	if len(list) == 0 {
		fmt.Fprintf(out, "  no entries; acptap wrap %s --new NAME -- AGENT… adds one\n", c.Name)
	}
	var t cli.Table
	for _, e := range list {
		about := settings.ShellWords(e.Agent...)
		switch {
		case e.Why != "":
			about = e.Why
		case e.State == settings.Registry:
			about = "wrap adds an entry beside it"
		}
		t.Row("  "+e.Name, entryState(e.State), about)
	}
	return t.Write(out, cli.Columns(out), 2)
}

func entryState(state settings.State) string {
	switch state {
	case settings.Plain:
		return "not wrapped"
	case settings.Remote:
		return "URL"
	case settings.Other:
		return "–"
	}
	return string(state)
}

// writeDone says what was done and what to do next.
func (o *flags) writeDone(out io.Writer, s *settings.Setup, ch *settings.Change) error {
	if o.asJSON {
		return cli.WriteJSONLines(out, ch.Steps, func(st settings.Step) any { return st })
	}
	moved, entries := false, []string(nil)
	for _, st := range ch.Steps {
		if _, err := io.WriteString(out, stepText(s, st)); err != nil {
			return err
		}
		if st.Did == settings.DidWrap || st.Did == settings.DidRewrap || st.Did == settings.DidAdd {
			moved, entries = moved || st.Did != settings.DidAdd, append(entries, st.Entry)
		}
	}
	if entries == nil {
		return nil
	}
	if slices.ContainsFunc(ch.Steps, func(st settings.Step) bool { return slices.Contains(st.Acptap, "--mcp") }) {
		fmt.Fprintf(out, "--mcp also records the MCP servers that the client gives the agent; --with '' leaves it out.\n")
	}
	show, undo := []string{"acptap", "show", "-f"}, []string(nil)
	if *o.Store != "" {
		show, undo = append(show, "--store", *o.Store), append(undo, "--store", *o.Store)
	}
	if o.file != "" {
		undo = append(undo, "--file", o.file)
	}
	if ch.Client.Note != "" && moved {
		fmt.Fprintf(out, "Note: %s.\n", ch.Client.Note)
	}
	_, err := fmt.Fprintf(out, "Next: %s; then watch it: %s\nUndo: %s\n", ch.Client.Next, settings.ShellWords(show...), settings.UnwrapLine(ch.Client.Name, undo, entries...))
	return err
}

// stepText says what was done to an entry.
func stepText(s *settings.Setup, st settings.Step) string {
	where := s.Machine.Short(st.File)
	command := settings.ShellWords(append(st.Acptap, st.Agent...)...)
	text := ""
	switch st.Did {
	case settings.DidWrap:
		text = fmt.Sprintf("%s in %s is wrapped:\n  %s\n", st.Entry, where, command)
	case settings.DidRewrap:
		text = fmt.Sprintf("%s in %s is wrapped anew:\n  %s\n", st.Entry, where, command)
	case settings.DidAdd:
		text = fmt.Sprintf("%s is new in %s:\n  %s\n", st.Entry, where, command)
	case settings.DidUnwrap:
		text = fmt.Sprintf("%s in %s is as before:\n  %s\n", st.Entry, where, settings.ShellWords(st.Agent...))
	case settings.DidRemove:
		text = fmt.Sprintf("%s is removed from %s.\n", st.Entry, where)
	case settings.DidNothing:
		if st.Why == "" {
			st.Why = "is wrapped already"
		}
		text = fmt.Sprintf("%s in %s: %s.\n", st.Entry, where, st.Why)
	case settings.DidSkip:
		text = fmt.Sprintf("%s in %s is skipped: %s.\n", st.Entry, where, st.Why)
	}
	return termtext.Text(text)
}

// writePaste prints lines for a client whose settings acptap does not write.
func (o *flags) writePaste(out io.Writer, s *settings.Setup, c *settings.Client, agent []string) error {
	name := o.added
	if name == "" {
		name, agent = "claude", []string{"claude-agent-acp"}
		if c.Name == "codex" {
			name, agent = "filesystem", []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "."}
		}
	}
	text := c.Paste(name, append(s.Wrapper.Words(name), agent...))
	if o.added == "" {
		text += fmt.Sprintf("\nFor another one: acptap wrap %s --new NAME -- AGENT ARG…\n", c.Name)
	}
	_, err := io.WriteString(out, termtext.Text(text))
	return err
}

// writeStatus lists everything that is wrapped. It returns ErrNo if a client cannot start
// an entry.
func (o *flags) writeStatus(out io.Writer, s *settings.Setup) error {
	list, err := s.Status()
	if err := o.writeStatuses(out, s, list); err != nil {
		return err
	}
	for _, st := range list {
		if st.Bad && err == nil {
			err = cli.ErrNo
		}
	}
	return err
}

func (o *flags) writeStatuses(out io.Writer, s *settings.Setup, list []settings.Status) error {
	if o.asJSON {
		return cli.WriteJSONLines(out, list, func(st settings.Status) any { return st })
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "Nothing is wrapped; acptap wrap lists what can be.")
		return err
	}
	return WriteDiagnoses(out, diagnoses(s, list))
}

// diagnoses returns the status of wrapped entries as acptap doctor reports it.
func diagnoses(s *settings.Setup, list []settings.Status) (found []record.Diagnosis) {
	for _, st := range list {
		found = append(found, record.Diagnosis{
			What: fmt.Sprintf("%s: %s %s (%s)", st.Client, st.Name, st.What, s.Machine.Short(st.File)),
			Bad:  st.Bad, Advice: st.Advice,
		})
	}
	return found
}

// Examine returns diagnoses of what is wrapped, and of what a client cannot start.
func (c Commands) Examine() []record.Diagnosis {
	s, err := (&flags{Commands: c}).setup()
	if err != nil {
		return nil // no home directory, so there are no settings
	}
	list, err := s.Status()
	found := diagnoses(s, list)
	if err != nil {
		found = append(found, record.Diagnosis{What: err.Error(), Bad: true, Advice: "mend the file; acptap wrap --status looks again"})
	}
	return found
}

// WriteDiagnoses writes diagnoses and the advice about them.
func WriteDiagnoses(w io.Writer, found []record.Diagnosis) error {
	for _, d := range found {
		mark := "ok "
		if d.Bad {
			mark = "BAD"
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", mark, termtext.Line(d.What)); err != nil {
			return err
		}
		if d.Advice != "" {
			fmt.Fprintf(w, "     → %s\n", termtext.Line(d.Advice))
		}
	}
	return nil
}
