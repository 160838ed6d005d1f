package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// WriteDiff writes the unified diff of two runs, as write produces it, in colours if w
// supports them.
func WriteDiff(w io.Writer, write func(io.Writer) error) error {
	if !TakesColor(w) {
		return write(w)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, paintedDiff(b.String()))
	return err
}

// paintedDiff returns a unified diff with each run in its colour.
func paintedDiff(diff string) string {
	var b strings.Builder
	heading := true // before the first hunk
	for line := range strings.Lines(diff) {
		text, ended := strings.CutSuffix(line, "\n")
		heading = heading && !strings.HasPrefix(text, "@@")
		style := termtext.Plain
		switch {
		case heading:
			style = termtext.Bold
		case strings.HasPrefix(text, "@@"):
			style = termtext.Cyan
		case strings.HasPrefix(text, "-"):
			style = termtext.FirstRun
		case strings.HasPrefix(text, "+"):
			style = termtext.SecondRun
		}
		b.WriteString(style.Paint(text))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
