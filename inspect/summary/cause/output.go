package cause

import (
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// Plain returns what a tool returned without Markdown, the headings that tell nothing, and
// the code that the tool says it has run; of JSON, what it holds. Output that is nothing else is
// returned in full.
func Plain(output string) string {
	if text := unwrapped(output); text != "" {
		return text
	}
	var b strings.Builder
	skips := false // up to the next heading
	for line := range strings.Lines(output) {
		heading, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		isHeading = isHeading && strings.HasPrefix(line, "#")
		if isHeading {
			skips = ranCode().MatchString(heading)
		}
		if skips || isHeading && emptyHeading().MatchString(heading) || pageLine().MatchString(line) {
			continue
		}
		b.WriteString(line)
	}
	if text := termtext.Unmarked(b.String()); text != "" {
		return text
	}
	return termtext.Unmarked(output)
}

var (
	// emptyHeading matches headings that say only what kind of text follows.
	emptyHeading = lazyregexp.New(`(?i)^(?:errors?|results?|output|response|(?:page|modal) state|snapshot):?\s*$`)
	// ranCode matches the heading above the code that a tool has run for the call.
	ranCode = lazyregexp.New(`(?i)^ran \w+ code\s*$`)
	// pageLine matches what a browser's tools say of every page.
	pageLine = lazyregexp.New(`^- Page (?:URL|Title|Snapshot):`)
)
