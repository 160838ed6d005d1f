// Package warning writes what acptap has to say on stderr, at once or without
// making the caller wait for its reader.
package warning

import (
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// Print writes a text to stderr, each line after the program's name. The text may
// quote the traffic, so control characters are escaped.
func Print(stderr io.Writer, format string, args ...any) {
	text := termtext.Text(fmt.Sprintf(format, args...))
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "acptap: %s\n", strings.TrimSuffix(line, "\n"))
	}
}
