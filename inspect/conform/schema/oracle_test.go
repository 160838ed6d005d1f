package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
)

// An oracle says whether a value fits: by a validator that is not ours.
type oracle struct {
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

func newOracle(t testing.TB) *oracle {
	t.Helper()
	o := &oracle{jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}}
	schema.Texts(func(_ dialect.Dialect, name string, text []byte) { o.add(t, name, text) })
	return o
}

func (o *oracle) add(t testing.TB, name string, text []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = o.compiler.AddResource("mem:///"+name, doc)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (o *oracle) fits(t testing.TB, at string, value []byte) bool {
	t.Helper()
	s := o.compiled[at]
	if s == nil {
		var err error
		if s, err = o.compiler.Compile("mem:///" + at); err != nil {
			t.Fatal(err)
		}
		o.compiled[at] = s
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return s.Validate(v) == nil
}

// pointer returns where the oracle has the schema of a message.
func (m message) pointer() string {
	name, kind := m.version, m.kind
	if m.dialect.Protocol() == dialect.ACP {
		name = m.dialect.String()
	}
	if m.task {
		kind = "task"
	}
	return name + "#/methods/" + strings.ReplaceAll(m.method, "/", "~1") + "/" + kind
}

func fits(s *schema.Shape, value []byte) bool {
	fits := true
	s.Check(value, func(p schema.Problem) { fits = fits && p.Kind == schema.UnknownKey })
	return fits
}

// TestOracle changes real messages at random, and asks another validator whether
// they still fit.
func TestOracle(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 4_000
	}
	var all []message
	for _, m := range messages(t) {
		if m.shape() != nil {
			all = append(all, m)
		}
	}
	mutants := newMutator(1, all)
	o := newOracle(t)
	fit := 0
	for i := range n {
		m := all[i%len(all)]
		value := mutants.mutate(m.value)
		got, want := fits(m.shape(), value), o.fits(t, m.pointer(), value)
		if want {
			fit++
		}
		if got != want {
			t.Fatalf("%v\n%s\nfits: got %v, want %v; found: %q", m, value, got, want, problems(m.shape(), value))
		}
	}
	if fit < n/20 || fit > n*19/20 {
		t.Errorf("%d of %d fit: the changes are of no use", fit, n)
	}
}

// A mutator changes JSON.
type mutator struct {
	rand    *rand.Rand
	strings []string // that occur somewhere, names of members too
	values  []any
}

func newMutator(seed uint64, all []message) *mutator {
	m := &mutator{rand: rand.New(rand.NewPCG(seed, 0))}
	for _, s := range []string{`null`, `true`, `0`, `-1`, `1.0`, `1.5`, `65536`, `1e400`, `"x"`, `""`, `[]`, `{}`, `[1]`, `{"type":"text"}`, `{"type":7}`} {
		m.values = append(m.values, decoded([]byte(s)))
	}
	for _, message := range all {
		m.collect(decoded(message.value))
	}
	return m
}

func decoded(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

func (m *mutator) collect(v any) {
	m.values = append(m.values, v)
	switch v := v.(type) {
	case string:
		m.strings = append(m.strings, v)
	case []any:
		for _, e := range v {
			m.collect(e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			m.strings = append(m.strings, k)
			m.collect(v[k])
		}
	}
}

// mutate returns a value with up to three changes.
func (m *mutator) mutate(text []byte) []byte {
	v := decoded(text)
	for range m.rand.IntN(4) {
		v = m.change(v)
	}
	changed, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if m.rand.IntN(4) == 0 {
		changed = m.double(changed)
	}
	return changed
}

// change returns a copy of v with one change, mostly far below.
func (m *mutator) change(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.Clone(v)
		switch i := m.rand.IntN(len(v) + 1); {
		case i == len(v) || m.rand.IntN(8) == 0:
			return append(v, m.any())
		case m.rand.IntN(8) == 0:
			return slices.Delete(v, i, i+1)
		default:
			v[i] = m.change(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		keys := slices.Sorted(maps.Keys(v))
		switch i := m.rand.IntN(len(keys) + 1); {
		case i == len(keys):
			v[m.string()] = m.any()
		case m.rand.IntN(6) == 0:
			delete(v, keys[i])
		case m.rand.IntN(10) == 0:
			return m.any()
		default:
			v[keys[i]] = m.change(v[keys[i]])
		}
		return v
	case string:
		if m.rand.IntN(2) == 0 {
			return m.string()
		}
	}
	return m.any()
}

func (m *mutator) any() any       { return m.values[m.rand.IntN(len(m.values))] }
func (m *mutator) string() string { return m.strings[m.rand.IntN(len(m.strings))] }

var opening = regexp.MustCompile(`\{"([^"\\]*)":`)

// double puts a member of the same name in front of another, which overrides it.
func (m *mutator) double(text []byte) []byte {
	all := opening.FindAllSubmatchIndex(text, -1)
	if all == nil {
		return text
	}
	at := all[m.rand.IntN(len(all))]
	other, err := json.Marshal(m.any())
	if err != nil {
		panic(err)
	}
	return slices.Concat(text[:at[0]+1], []byte(`"`), text[at[2]:at[3]], []byte(`":`), other, []byte(","), text[at[0]+1:])
}
