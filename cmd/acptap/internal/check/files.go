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
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// readConfig reads the file of exceptions, if there is one.
func (r *run) readConfig() (*exceptions, error) {
	name := r.configFile
	if name == "" {
		name = exceptionsFile
	}
	f, err := os.Open(name)
	if r.configFile == "" && errors.Is(err, fs.ErrNotExist) {
		return &exceptions{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseExceptions(f, name)
}

// readBaseline reads the baseline. With --update-baseline the file may be missing.
func (r *run) readBaseline() (*baseline, error) {
	if r.baselineFile == "" {
		return &baseline{}, nil
	}
	f, err := os.Open(r.baselineFile)
	if errors.Is(err, fs.ErrNotExist) && r.update {
		return &baseline{}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; --update-baseline makes it", err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseBaseline(f, r.baselineFile)
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

// endBaseline rewrites the baseline, or reports which of its faults are gone. It keeps
// known faults that were not judged: a run for one side or a few rules must not drop the
// others.
func (r *run) endBaseline() error {
	judged := func(rule string) bool {
		is := func(r *conform.Rule) bool { return r.ID == rule }
		return slices.ContainsFunc(r.rules, is) || slices.ContainsFunc(r.ownRules(), is)
	}
	if r.update {
		r.renewed.Keep(r.baseline, judged)
		r.failed = false // all findings are known now
		if err := disk.WriteFile(r.baselineFile, func(w io.Writer) error { return r.renewed.Write(w) }); err != nil {
			return err
		}
		fmt.Fprintf(r.stderr, "%s: %s\n", r.baselineFile, termtext.Counted(r.renewed.Len(), "known fault"))
		return nil
	}
	for _, e := range r.baseline.Gone() {
		if !judged(e.Rule) {
			continue
		}
		fmt.Fprintf(r.stderr, "%s: %s is not there any more; --update-baseline drops it: %s\n", r.baselineFile, termtext.Line(e.Rule), termtext.Line(e.Text))
	}
	return nil
}
