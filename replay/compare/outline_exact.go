package compare

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// exactFrame writes a frame with all of its values. It leaves out only what means nothing
// in JSON: the order of members, white space, and the spelling of numbers.
func (o *Outliner) exactFrame(f *dialect.Frame) error {
	if !f.AtClient() || !o.side.has(f) || o.full {
		return nil
	}
	o.at = Position{o.tape, f.Seq}
	switch f.Kind {
	case wire.Mark:
		return nil
	case wire.Invalid, wire.Stderr, wire.Oversized, wire.Body:
		if f.Size <= longValue {
			o.step(fmt.Sprintf("%v %v %s", f.Dir, f.Kind, f.Raw))
			return nil
		}
		sum := sha256.New()
		err := o.side.Tapes[o.tape].WriteFrame(sum, f.Seq)
		o.step(fmt.Sprintf("%v %v %s (%d bytes, %x)", f.Dir, f.Kind, f.Method, f.Size, sum.Sum(nil)[:8]))
		return err
	}
	o.step(fmt.Sprintf("%v %v", f.Dir, f.Kind))
	for _, field := range dialect.AllMatchFields(f.Raw) {
		if field.Path != "jsonrpc" {
			o.step("  " + field.Path + " " + clipped(field.Value))
		}
	}
	return nil
}

// has reports whether a frame belongs to what is compared.
func (s Side) has(f *dialect.Frame) bool {
	return s.Session == "" || f.Session == s.Session ||
		slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return a.Session == s.Session })
}
