package cli

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// Members describes the members of the JSON object that a struct marshals to, for the help
// of a command: a line for each, with the help tag of the field, in at most 80 columns.
func Members(object any) string {
	const widest = 16 // limit for the width of the first column
	var names, texts []string
	width := 0
	for f := range reflect.TypeOf(object).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names, texts = append(names, name), append(texts, f.Tag.Get("help"))
			width = max(width, len(name))
		}
	}
	width = min(width, widest)
	var b strings.Builder
	for i, name := range names {
		for _, line := range termtext.Wrap(texts[i], 80-width-4) {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, name, line)
			name = ""
		}
	}
	return b.String()
}
