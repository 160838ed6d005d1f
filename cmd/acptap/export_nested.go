package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/portable"
)

// A nestedFile is a tape and the file to write it to.
type nestedFile struct{ tape, path string }

// exportNested writes a tape and its nested tapes to files in a directory, one file per
// tape, and writes their paths to w.
func (x *exporting) exportNested(ctx context.Context, w, stderr io.Writer, sub ref.Subject, out string, force bool) error {
	l, err := sub.Store.List()
	if err != nil {
		return err
	}
	tape := sub.Parts[0].Tape.ID()
	files := nestedFiles(record.NestingOf(l.Tapes), tape, filepath.Join(out, tape))
	for _, f := range files {
		if ref.IsFile(f.path) && !force {
			return fmt.Errorf("%s exists; --force replaces it", f.path)
		}
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	var damage error
	for _, f := range files {
		tape, err := sub.Store.Open(f.tape)
		if err != nil {
			return err
		}
		bad, err := x.exportFile(ctx, f.path, ref.Subject{Store: sub.Store, Parts: []ref.Part{{Tape: tape}}}, stderr)
		if err != nil {
			return err
		}
		damage = errors.Join(damage, bad)
		if _, err := fmt.Fprintln(w, f.path); err != nil {
			return err
		}
	}
	return damage
}

// exportFile writes a subject to a file; on error it leaves no partial file.
func (x *exporting) exportFile(ctx context.Context, path string, sub ref.Subject, stderr io.Writer) (damage, err error) {
	bar := cli.NewProgress(stderr, path)
	defer bar.End()
	err = disk.WriteFile(path, func(w io.Writer) (err error) {
		damage, err = x.export(ctx, w, sub, bar)
		return err
	})
	return damage, err
}

// nestedFiles returns a tape and all tapes below it, with their files: BASE.jsonl, and
// BASE.mcp.NAME.jsonl for the server NAME, as acptap help portable describes.
func nestedFiles(n record.Nesting, tape, base string) []nestedFile {
	files := []nestedFile{{tape, base + ".jsonl"}}
	children := n.Children(tape)
	taken := map[string]bool{}
	for i, behind := range record.ServerRefs(children) {
		file := portable.ServerFile(base, behind[1:])
		for taken[file] {
			file = strings.TrimSuffix(file, ".jsonl") + "_.jsonl"
		}
		taken[file] = true
		files = append(files, nestedFiles(n, children[i].Tape, strings.TrimSuffix(file, ".jsonl"))...)
	}
	return files
}
