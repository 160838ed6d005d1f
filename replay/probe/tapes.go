package probe

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/disk"
)

// WriteTapes exports the tape of each case to a file in dir, without secrets, and points the
// results and findings to these files.
func (r *Report) WriteTapes(store *record.Store, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Tape == "" {
			continue
		}
		t, err := store.Open(res.Tape)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, strings.TrimPrefix(res.Name, r.Run+".")+".jsonl")
		if err := disk.WriteFile(file, func(w io.Writer) error { return t.Export(w, false) }); err != nil {
			return err
		}
		res.File = filepath.ToSlash(file)
		for at, f := range r.Faults() {
			if at != res || f.Seq == 0 {
				continue
			}
			f.Line = t.Line(f.Seq)
			for i, seq := range f.Because {
				f.BecauseLines[i] = t.Line(seq)
			}
		}
	}
	return nil
}
