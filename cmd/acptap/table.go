package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
)

// A table is aligned text for people.
type table struct {
	rows   [][]string
	widths []int
}

// row adds a row. Cells that come from outside may hold anything: what would
// move the cursor is shown as a blank.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		c = strings.Map(printable, c)
		cells[i] = c
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], uniseg.StringWidth(c))
	}
	t.rows = append(t.rows, cells)
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// write writes the rows, two blanks between columns.
func (t *table) write(w io.Writer) error {
	var b strings.Builder
	for _, row := range t.rows {
		gap := 0
		for i, c := range row {
			if c == "" {
				gap += t.widths[i] + 2
				continue
			}
			b.WriteString(strings.Repeat(" ", gap))
			b.WriteString(c)
			gap = t.widths[i] - uniseg.StringWidth(c) + 2
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// bytesText returns a size as people read it.
func bytesText(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, u := float64(n), 0
	for v >= 999.5 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	if u == 0 || v >= 99.5 {
		return fmt.Sprintf("%.0f %s", v, units[u])
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}

// timeText returns a time as people read it in a list.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
