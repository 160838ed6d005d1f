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

// A history is a list of filters, or of other words, that the user has typed. It is kept
// in a file, one entry per line, for later runs. If the file cannot be read or written,
// the history lasts only as long as the program; that is not an error.
type history struct {
	path  string // empty: there is no file
	lines []string
}

const (
	maxHistory     = 100       // number of filters
	maxHistoryLine = 1 << 10   // bytes
	maxHistoryFile = 256 << 10 // bytes; a larger file is not a history
)

// newHistory returns the history in a file. If path is empty, there is no file.
func newHistory(path string) history { return history{path, read(path)} }

// searchesFile returns the file for search words, next to the one for filters.
func searchesFile(filters string) string {
	if filters == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filters), "searches")
}

// read returns the filters in a file. It skips invalid lines.
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

// remember adds a filter at the end, or moves it there.
func remember(lines []string, line string) []string {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if strings.TrimSpace(line) == "" || len(line) > maxHistoryLine || strings.ContainsFunc(line, odd) {
		return lines
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == line })
	lines = append(lines, line)
	return lines[max(0, len(lines)-maxHistory):]
}

// Lines returns the entries, latest last.
func (h *history) Lines() []string { return h.lines }

// Last returns the latest entry, or the empty string if there is none.
func (h *history) Last() string {
	if len(h.lines) == 0 {
		return ""
	}
	return h.lines[len(h.lines)-1]
}

// Add adds an entry.
func (h *history) Add(line string) {
	h.lines = remember(h.lines, line)
	if h.path != "" {
		write(h.path, remember(read(h.path), line)) // another inspector may have changed the file
	}
}

// write replaces the file atomically.
func write(path string, lines []string) error {
	return disk.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}
