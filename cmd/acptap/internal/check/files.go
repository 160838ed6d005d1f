package check

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// Exceptions reads a file of exceptions. If name is empty, it reads the default file if that
// exists. strength returns how much a finding counts: None if not at all.
func Exceptions(name string) (strength func(*conform.Finding, *dialect.Connection) conform.Strength, err error) {
	c, err := readExceptions(name)
	return func(f *conform.Finding, conn *dialect.Connection) conform.Strength { return c.Strength(f, conn, nil) }, err
}

func readExceptions(name string) (*exceptions, error) {
	given := name
	if name == "" {
		name = exceptionsFile
	}
	f, err := os.Open(name)
	if given == "" && errors.Is(err, fs.ErrNotExist) {
		return &exceptions{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseExceptions(f, name)
}

// maxLine limits the length of a line of these files, in bytes.
const maxLine = 64 << 10

// eachLine calls do with each line of the file called name. Errors name the line.
func eachLine(r io.Reader, name string, do func(line string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimPrefix(lines.Text(), "\uFEFF") // editors on Windows may begin a file with it
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// endBaseline rewrites the baseline, or reports which of its faults are gone.
func (r *run) endBaseline() error {
	if r.update {
		r.failed = false // all findings are known now
	}
	return r.baseline.End(r.stderr, func(rule string) bool {
		is := func(r *conform.Rule) bool { return r.ID == rule }
		return slices.ContainsFunc(r.rules, is) || slices.ContainsFunc(r.ownRules(), is)
	})
}
