package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// chapters are the page's headings.
var chapters = [...]string{
	dialect.AnyProtocol: "JSON-RPC",
	dialect.ACP:         "Agent Client Protocol",
	dialect.MCP:         "Model Context Protocol",
}

// WriteMarkdown writes a page that describes the rules, with their examples.
func WriteMarkdown(w io.Writer, rules []*conform.Rule) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `# The rules of acptap check

<!-- Made by acptap check --rules --format markdown. -->

A *violation* is of a MUST, of the published schema, or of JSON-RPC 2.0 itself. A *warning* is of a SHOULD or a definition in prose, or of a MUST where the frames make it very likely but do not prove it. What *hurts* is allowed or left open, but a named peer is known to break on it. A *note* is legal, unstable or left open. A *hang* is what nobody ever answered. The specifications were read on %s.

In the examples, `+"`>`"+` is a line that the client sends and `+"`<`"+` one of the agent or server; `+"`jsonrpc`"+` is left out. `+"`= v1`"+` stands for an `+"`initialize`"+` that is in order, `+"`= session`"+` for a `+"`session/new`"+` that is answered with the id `+"`s1`"+`, and `+"`+ 300ms`"+` for time that passes. A *bad* one breaks the rule and no other, a *good* one breaks none, and one that is *cut* does not show how the connection ends, so it proves nothing.
`, conform.Date)
	rules = inOrder(rules)
	for i, r := range rules {
		if i == 0 || r.Protocol() != rules[i-1].Protocol() {
			fmt.Fprintf(b, "\n## %s\n", chapters[r.Protocol()])
		}
		if err := section(b, r); err != nil {
			return err
		}
	}
	fmt.Fprint(b, "\n## Queries of your own, and what has hung\n")
	for _, r := range Own() {
		fmt.Fprintf(b, "\n### %s\n\n**%s**. %s Each finding is a %s. To do: %s.\n", r.ID, r.Name, r.Text.Asks, r.Strength(), r.Text.Do)
	}
	return b.Flush()
}

func section(w io.Writer, r *conform.Rule) error {
	prose, examples, err := conform.Examples(r.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n### %s\n\n**%s** (%s). %s\n\n", r.ID, r.Name, sideOf(r), r.Text.Asks)
	for i := range r.Clauses {
		c := &r.Clauses[i]
		word := ""
		if c.Word != "" {
			word = " (" + c.Word + ")"
		}
		fmt.Fprintf(w, "- %s in %s: [%s](%s)%s\n", c.Strength, scope(r, c), c.Source.Title, c.Source.URL, word)
	}
	for i := range r.Hurts {
		v := &r.Hurts[i]
		fmt.Fprintf(w, "- hurts %s, which %s (seen %s): <%s>\n", v.Who, v.What, v.Seen, v.URL)
	}
	fmt.Fprintf(w, "\nReported: %s\n\n", r.Text.Finds)
	if r.Text.Spares != "" {
		fmt.Fprintf(w, "Not reported: %s\n\n", r.Text.Spares)
	}
	fmt.Fprintf(w, "To do: %s.\n\n%s\n", strings.TrimSuffix(r.Text.Do, "."), prose)
	for _, x := range examples {
		fmt.Fprintf(w, "\n%s:\n\n%s\n", x.Name, fenced(x.Text))
	}
	return nil
}

// fenced returns a text as a code block whose fence does not occur in the text.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
