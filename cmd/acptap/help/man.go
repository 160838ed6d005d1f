package help

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WriteMan writes a page of section 1 for root and each command below it, and a page of
// section 7 for each topic, to man1 and man7 in a directory. It creates missing
// directories.
func WriteMan(dir string, root *cobra.Command) error {
	pages := map[string]string{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if cmd.HasParent() && !cmd.IsAvailableCommand() && cmd.Name() != "help" {
			return // hidden
		}
		pages[filepath.Join("man1", pageName(cmd)+".1")] = commandPage(cmd)
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(root)
	for _, t := range Topics() {
		pages[filepath.Join("man7", "acptap-"+t.Name+".7")] = t.page()
	}
	for _, section := range []string{"man1", "man7"} {
		if err := os.MkdirAll(filepath.Join(dir, section), 0o755); err != nil {
			return err
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// A manWriter writes man macros that groff and mandoc understand.
type manWriter struct{ strings.Builder }

func newManWriter(name, section, summary string) *manWriter {
	w := &manWriter{}
	fmt.Fprintf(w, ".TH %s %s \"\" acptap acptap\n", roff(strings.ToUpper(name)), section)
	w.section("Name")
	w.text(roff(name) + ` \- ` + roff(summary))
	return w
}

func (w *manWriter) section(title string) {
	fmt.Fprintf(w, ".SH %s\n", strings.ToUpper(roff(title)))
}

// text writes a line of text that is already escaped.
func (w *manWriter) text(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line // keep it from being read as a macro
	}
	w.WriteString(line + "\n")
}

// literal writes lines as they are.
func (w *manWriter) literal(lines []string) {
	w.WriteString(".PP\n.RS 4\n.nf\n")
	for _, line := range lines {
		w.text(roff(line))
	}
	w.WriteString(".fi\n.RE\n")
}

// roff escapes the special characters of roff.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(s)
}

// page returns the topic as a man page.
func (t Topic) page() string {
	w := newManWriter("acptap-"+t.Name, "7", plainText(t.Title))
	body := parse(t.Markdown)[1:] // without the title
	if len(body) > 0 && body[0].kind != heading {
		w.section("Description")
	}
	for _, b := range body {
		switch b.kind {
		case heading:
			if b.level == 2 {
				w.section(plainText(b.text))
			} else {
				fmt.Fprintf(w, ".SS %s\n", roff(plainText(b.text)))
			}
		case paragraph:
			w.WriteString(".PP\n")
			w.text(roffSpans(b.text))
		case item:
			fmt.Fprintf(w, ".IP %s 4\n", strings.Replace(b.mark, "-", `\(bu`, 1))
			w.text(roffSpans(b.text))
		case code:
			w.literal(b.lines)
		case table:
			t := textWriter{width: 70} // leaves room for man's indents
			t.table(b.rows)
			w.literal(strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n"))
		}
	}
	return w.String()
}

func roffSpans(text string) string {
	var b strings.Builder
	for _, s := range spans(text) {
		switch s.style {
		case literal, strong:
			b.WriteString(`\fB` + roff(s.text) + `\fR`)
		case emphasis:
			b.WriteString(`\fI` + roff(s.text) + `\fR`)
		case link:
			b.WriteString(roff(s.linkText()))
		default:
			b.WriteString(roff(s.text))
		}
	}
	return b.String()
}

// commandPage returns the help of a command as a man page.
func commandPage(cmd *cobra.Command) string {
	w := newManWriter(pageName(cmd), "1", cmd.Short)
	w.section("Synopsis")
	w.text(`\fB` + roff(cmd.CommandPath()) + `\fR` + roff(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())))
	w.section("Description")
	w.prose(cmd.Long)
	w.commands(cmd)
	w.flags("Options", cmd.NonInheritedFlags())
	w.flags("Global options", cmd.InheritedFlags())
	if cmd.Example != "" {
		w.section("Examples")
		var lines []string
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			lines = append(lines, strings.TrimPrefix(line, "  "))
		}
		w.literal(lines)
	}
	w.seeAlso(cmd)
	return w.String()
}

// prose writes the long help of a command, in which lists are indented.
func (w *manWriter) prose(long string) {
	for part := range strings.SplitSeq(strings.Trim(long, "\n"), "\n\n") {
		var list []string
		w.WriteString(".PP\n")
		for line := range strings.Lines(part) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "  ") {
				list = append(list, strings.TrimPrefix(line, "  "))
				continue
			}
			if list != nil {
				w.literal(list)
				w.WriteString(".PP\n")
				list = nil
			}
			w.text(roff(line))
		}
		if list != nil {
			w.literal(list)
		}
	}
}

// commands lists the commands below cmd, if there are any.
func (w *manWriter) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	w.section("Commands")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			w.WriteString(".TP\n")
			w.text(`\fB` + roff(sub.CommandPath()) + `\fR`)
			w.text(roff(sub.Short))
		}
	}
}

func (w *manWriter) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	w.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		w.WriteString(".TP\n")
		tag := `\fB` + roff(name) + `\fR`
		if value != "" {
			tag += ` \fI` + roff(value) + `\fR`
		}
		w.text(tag)
		w.text(roff(usage + defaultOf(f)))
	})
}

// defaultOf returns the text about the default of a flag, or "" if the default is a zero
// value or the usage already mentions it.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	if strings.Contains(f.Usage, "(default ") {
		return ""
	}
	return " (default " + strings.Trim(f.DefValue, "[]") + ")"
}

func (w *manWriter) seeAlso(cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, pageName(cmd.Parent())+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, pageName(sub)+"(1)")
		}
	}
	if !cmd.HasParent() {
		for _, t := range Topics() {
			pages = append(pages, "acptap-"+t.Name+"(7)")
		}
	}
	if len(pages) > 0 {
		w.section("See also")
		w.text(roff(strings.Join(pages, ", ")))
	}
}
