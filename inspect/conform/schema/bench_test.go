package schema_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
)

// BenchmarkCheck measures the check of the updates and permission requests of the
// real tapes that fit, of some 200 bytes each.
func BenchmarkCheck(b *testing.B) {
	var values [][]byte
	var shapes []*schema.Shape
	size := 0
	for _, m := range messages(b) {
		s := m.shape()
		if s == nil || m.method != "session/update" && m.method != "session/request_permission" || problems(s, m.value) != nil {
			continue
		}
		values, shapes = append(values, m.value), append(shapes, s)
		size += len(m.value)
	}
	none := func(p schema.Problem) { b.Fatal(line(p)) }
	b.ReportAllocs()
	b.SetBytes(int64(size / len(values)))
	i := 0
	for b.Loop() {
		shapes[i].Check(values[i], none)
		i = (i + 1) % len(values)
	}
}

// BenchmarkSet measures the cost of a dialect's first message, apart from unpacking.
func BenchmarkSet(b *testing.B) {
	schema.Texts(func(d dialect.Dialect, _ string, text []byte) {
		if d != dialect.ACPv1 {
			return
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.MakeSet(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAllocations: what fits costs no memory.
func TestAllocations(t *testing.T) {
	report := func(schema.Problem) {}
	for _, m := range messages(t) {
		s := m.shape()
		if s == nil || problems(s, m.value) != nil {
			continue
		}
		if n := testing.AllocsPerRun(5, func() { s.Check(m.value, report) }); n > 0 {
			t.Errorf("%v: %v allocations\n%s", m, n, m.value)
		}
	}
}
