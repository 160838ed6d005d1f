package help

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// WriteMan writes a section 1 page for root and each command below it, and a section 7
// page for each topic, to man1 and man7 in a directory. It creates missing directories.
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

// manPage returns blocks as a man page that groff and mandoc understand.
func manPage(name, section, summary string, blocks []block) string {
	w := &manWriter{}
	fmt.Fprintf(w, ".TH %s %s \"\" acptap acptap\n.SH NAME\n", roff(strings.ToUpper(name)), section)
	w.text(roff(name) + ` \- ` + roff(summary))
	for _, b := range blocks {
		switch b.kind {
		case heading:
			if text := plainText(b.spans); b.level == 2 {
				fmt.Fprintf(w, ".SH %s\n", roff(strings.ToUpper(text)))
			} else {
				fmt.Fprintf(w, ".SS %s\n", roff(text))
			}
		case paragraph:
			w.WriteString(".PP\n")
			w.text(roffSpans(b.spans))
		case item:
			fmt.Fprintf(w, ".IP %s 4\n", strings.Replace(b.mark, "-", `\(bu`, 1))
			w.text(roffSpans(b.spans))
		case definition:
			w.WriteString(".TP\n")
			w.text(roffSpans(b.term))
			w.text(roffSpans(b.spans))
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

type manWriter struct{ strings.Builder }

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

func roffSpans(list []span) string {
	var b strings.Builder
	for _, s := range list {
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

// page returns the topic as a man page.
func (t Topic) page() string {
	body := parse(t.Markdown)[1:] // without the title
	if len(body) > 0 && body[0].kind != heading {
		body = slices.Insert(body, 0, title("Description"))
	}
	return manPage("acptap-"+t.Name, "7", plainText(spans(t.Title)), body)
}

// commandPage returns the help of a command as a man page.
func commandPage(cmd *cobra.Command) string {
	path := cmd.CommandPath()
	h := commands.Of(cmd)
	usage := []span{{style: strong, text: path}, {text: strings.TrimPrefix(cmd.UseLine(), path)}}
	blocks := []block{title("Synopsis"), {spans: usage}}
	if h.Details != "" {
		blocks = append(append(blocks, title("Description")), prose(h.Details)...)
	}
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, pageName(cmd.Parent())+"(1)")
	}
	if cmd.HasAvailableSubCommands() {
		blocks = append(blocks, title("Commands"))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			blocks = append(blocks, block{kind: definition, term: []span{{style: strong, text: sub.CommandPath()}}, spans: []span{{text: sub.Short}}})
			pages = append(pages, pageName(sub)+"(1)")
		}
	}
	blocks = append(blocks, title("Options"))
	for _, g := range cli.FlagGroups(cmd, h) {
		blocks = append(append(blocks, block{kind: heading, level: 3, spans: []span{{text: g.Title}}}), options(g.Flags)...)
	}
	if h.Examples != "" {
		blocks = append(append(blocks, title("Examples")), prose(h.Examples)...)
	}
	topics := h.Topics
	if !cmd.HasParent() {
		topics = names
	}
	for _, t := range topics {
		pages = append(pages, "acptap-"+t+"(7)")
	}
	if len(pages) > 0 {
		blocks = append(blocks, title("See also"), block{spans: []span{{text: strings.Join(pages, ", ")}}})
	}
	return manPage(pageName(cmd), "1", cmd.Short, blocks)
}

// title returns the heading of a section.
func title(text string) block { return block{kind: heading, level: 2, spans: []span{{text: text}}} }

// prose returns the blocks of the long help of a command, in which lists are indented.
func prose(long string) (blocks []block) {
	for part := range strings.SplitSeq(strings.Trim(long, "\n"), "\n\n") {
		fresh := true
		for line := range strings.SplitSeq(part, "\n") {
			kind := paragraph
			line, indented := strings.CutPrefix(line, "  ")
			if indented {
				kind = code
			}
			if fresh || blocks[len(blocks)-1].kind != kind {
				blocks = append(blocks, block{kind: kind})
				fresh = false
			} else if !indented {
				line = " " + line
			}
			b := &blocks[len(blocks)-1]
			if indented {
				b.lines = append(b.lines, line)
			} else {
				b.spans = append(b.spans, span{text: line})
			}
		}
	}
	return blocks
}

// options returns the list of flags.
func options(flags *pflag.FlagSet) (blocks []block) {
	flags.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		term := []span{{style: strong, text: flag}}
		if value != "" {
			term = append(term, span{text: " "}, span{style: emphasis, text: value})
		}
		blocks = append(blocks, block{kind: definition, term: term, spans: []span{{text: usage + defaultOf(f)}}})
	})
	return blocks
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
