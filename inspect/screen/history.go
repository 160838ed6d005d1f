package screen

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/record/disk"
)

// A history is the filters, or other words, that were typed. They are kept in
// a file, one a line, so that the next run has them too. A file that cannot be
// read or written is not an error: then they are known while the program runs.
type history struct {
	path  string // empty: there is no file
	lines []string
}

const (
	maxHistory     = 100       // filters
	maxHistoryLine = 1 << 10   // bytes
	maxHistoryFile = 256 << 10 // bytes; a file that is larger is not one of ours
)

// newHistory returns the history in a file. Empty: there is no file.
func newHistory(path string) history { return history{path, read(path)} }

// searchesFile returns the file for words that were looked for, beside that for filters.
func searchesFile(filters string) string {
	if filters == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filters), "searches")
}

// read returns the filters in a file. Lines that are no filters are left
// out.
func read(path string) []string {
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxHistoryFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = remember(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// remember puts a filter at the end.
func remember(lines []string, line string) []string {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if strings.TrimSpace(line) == "" || len(line) > maxHistoryLine || strings.ContainsFunc(line, odd) {
		return lines
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == line })
	lines = append(lines, line)
	return lines[max(0, len(lines)-maxHistory):]
}

// Lines returns what was typed, the last one last.
func (h *history) Lines() []string { return h.lines }

// Last returns the last filter, empty if there is none.
func (h *history) Last() string {
	if len(h.lines) == 0 {
		return ""
	}
	return h.lines[len(h.lines)-1]
}

// Add remembers a filter.
func (h *history) Add(line string) {
	h.lines = remember(h.lines, line)
	if h.path != "" {
		write(h.path, remember(read(h.path), line)) // another inspector may have added to it
	}
}

// write makes the file anew: it is there whole, or as it was.
func write(path string, lines []string) error {
	return disk.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}
