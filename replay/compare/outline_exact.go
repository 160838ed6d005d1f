package compare

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// exactLines writes every frame with all of its values, in the order of the tapes. It
// leaves out only what has no meaning in JSON: the order of members, blanks, and how a
// number is spelled.
func exactLines(s Side) ([]string, error) {
	var lines []string
	for _, t := range s.Tapes {
		for f, err := range t.Frames(1) {
			if err != nil {
				return nil, err
			}
			if f.AtClient() && s.has(&f) {
				more, err := exactFrame(t, &f)
				if err != nil {
					return nil, err
				}
				lines = append(lines, more...)
			}
		}
	}
	return lines, nil
}

// has reports whether a frame belongs to what is compared.
func (s Side) has(f *dialect.Frame) bool {
	return s.Session == "" || f.Session == s.Session ||
		slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return a.Session == s.Session })
}

func exactFrame(t *record.Tape, f *dialect.Frame) ([]string, error) {
	switch f.Kind {
	case wire.Mark:
		return nil, nil
	case wire.Invalid, wire.Stderr, wire.Oversized:
		if f.Size <= longValue {
			return []string{fmt.Sprintf("%v %v %s", f.Dir, f.Kind, f.Raw)}, nil
		}
		sum := sha256.New()
		err := t.WriteFrame(sum, f.Seq)
		return []string{fmt.Sprintf("%v %v %s (%d bytes, %x)", f.Dir, f.Kind, f.Method, f.Size, sum.Sum(nil)[:8])}, err
	}
	lines := []string{fmt.Sprintf("%v %v", f.Dir, f.Kind)}
	for _, field := range dialect.AllMatchFields(f.Raw) {
		if field.Path != "jsonrpc" {
			lines = append(lines, "  "+field.Path+" "+clipped(field.Value))
		}
	}
	return lines, nil
}
