package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/conform/schema"
)

// Schemas such as tools declare them for their output, and values that fit them.
var compileTests = []struct {
	name, schema string
	fits         []string
}{
	{"as zod writes it",
		`{"type":"object","properties":{"temperature":{"type":"number","minimum":-273.15},"unit":{"type":"string","enum":["C","F"],"default":"C"},"at":{"type":"string"},"tags":{"type":"array","items":{"type":"string","minLength":1,"maxLength":3},"maxItems":2}},"required":["temperature","unit"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`,
		[]string{`{"temperature":-273.15,"unit":"C","tags":["añb"]}`, `{"temperature":1e2,"unit":"F","at":"now"}`}},
	{"as pydantic writes it",
		`{"$defs":{"Day":{"properties":{"high":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"High"},"kind":{"const":"day","type":"string"}},"required":["kind"],"title":"Day","type":"object"},"Night":{"properties":{"low":{"exclusiveMaximum":10,"type":"number"},"kind":{"const":"night"}},"required":["kind","low"],"type":"object"}},"properties":{"list":{"items":{"oneOf":[{"$ref":"#/$defs/Day"},{"$ref":"#/$defs/Night"}],"discriminator":{"mapping":{"day":"#/$defs/Day"},"propertyName":"kind"}},"minItems":1,"type":"array"}},"required":["list"],"title":"Out","type":"object"}`,
		[]string{`{"list":[{"kind":"day","high":2.0},{"kind":"night","low":9.99}]}`, `{"list":[{"kind":"day","high":null}]}`}},
	{"a map",
		`{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{"type":["integer","boolean"],"maximum":5},"minProperties":1,"maxProperties":2}`,
		[]string{`{"a":1,"b":true}`, `{"a":5.0}`}},
	{"a tuple, and what must not be",
		`{"type":"array","prefixItems":[{"type":"string","pattern":"^[a-c]+$"},{"not":{"type":"number"}}],"items":{"not":{"required":["bad"]}}}`,
		[]string{`["abc",null,{"good":1}]`, `["a"]`, `[]`}},
	{"a list that refers to itself",
		`{"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"},"value":true},"required":["value"],"additionalProperties":false}},"$ref":"#/$defs/node"}`,
		[]string{`{"value":1,"next":{"value":2,"next":{"value":[]}}}`}},
	{"parts that overlap",
		`{"type":"object","allOf":[{"properties":{"a":{"type":"number"}},"additionalProperties":{"type":"string"}},{"properties":{"a":{"minimum":1},"b":{"enum":["x","y",1,null]}},"required":["b"]}],"anyOf":[{"properties":{"c":{"const":"1"}},"required":["c"]},{"properties":{"d":{"type":"string"}}}]}`,
		[]string{`{"a":1.0,"b":"x","c":"1"}`, `{"b":"y","d":"d"}`}},
	{"unions in unions",
		`{"oneOf":[{"type":"integer","minimum":5},{"type":"number","maximum":3},{"oneOf":[{"type":"string","minLength":2},{"type":"string","maxLength":3}]},{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}],"oneOf":[{"required":["c"]},{"required":["d"]}]}]}`,
		[]string{`7`, `2.5`, `"a"`, `"abcd"`, `{"a":1,"c":1}`, `{"a":1,"b":1,"d":null}`}},
	{"a false branch", `{"anyOf":[false,{"type":"object","properties":{"no":false,"yes":true}}]}`, []string{`{"yes":1}`}},
}

func TestCompile(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 1_000
	}
	o := newOracle(t)
	var values []message
	for _, tt := range compileTests {
		for _, value := range tt.fits {
			values = append(values, message{value: []byte(value)})
		}
	}
	mutants := newMutator(2, values)
	for i, tt := range compileTests {
		s, err := schema.Compile([]byte(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		at := fmt.Sprintf("compiled-%d", i)
		o.add(t, at, []byte(tt.schema))
		for _, value := range tt.fits {
			if p := problems(s, []byte(value)); p != nil {
				t.Errorf("%s: %s: %q", tt.name, value, p)
			}
		}
		for i := range n / len(compileTests) {
			value := mutants.mutate([]byte(tt.fits[i%len(tt.fits)]))
			if got, want := fits(s, value), o.fits(t, at, value); got != want {
				t.Fatalf("%s\n%s\nfits: got %v, want %v; found: %q", tt.schema, value, got, want, problems(s, value))
			}
		}
	}
}

// TestNotJudged has schemas that nothing can be said by.
func TestNotJudged(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{``, "schema: too long, or not JSON"},
		{`{"type":"object"`, "schema: too long, or not JSON"},
		{`[]`, "schema: a schema is neither an object nor true or false"},
		{`{"type":"text"}`, "schema: type: no type of JSON"},
		{`{"properties":{"a":{"uniqueItems":true}}}`, "schema: properties: a: uniqueItems: the keyword is not known here"},
		{`{"items":[{}]}`, "schema: items: a schema is neither an object nor true or false"},
		{`{"enum":[{}]}`, "schema: enum: a value that is an object or an array"},
		{`{"pattern":"(?=a)"}`, "schema: pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		{`{"minLength":"1"}`, "schema: minLength: the limit is no number"},
		{`{"$ref":"https://example.com/s.json"}`, `schema: $ref: "https://example.com/s.json" is outside of the schema`},
		{`{"$ref":"#/$defs/none"}`, `schema: $ref: there is no "#/$defs/none"`},
		{`{"$ref":"#name"}`, `schema: $ref: there is no "#name"`},
		{`{"anyOf":[{"$ref":"#"},{"type":"null"}]}`, "schema: a union has itself for a branch"},
		{`{"properties":{"a":{"$id":"b"}}}`, "schema: properties: a: $id: the keyword is not known here"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `schema: the draft "http://json-schema.org/draft-04/schema#" is not known here`},
	} {
		if _, err := schema.Compile([]byte(tt.schema)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.schema, err, tt.want)
		}
	}
	if _, err := schema.Compile([]byte(`{"$id":"https://example.com/out","$ref":"#/definitions/a","definitions":{"a":{"$comment":"c"}}}`)); err != nil {
		t.Error(err)
	}
}

// TestBounds has schemas and values whose check would otherwise run forever or exhaust the
// stack.
func TestBounds(t *testing.T) {
	deep := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)
	both := `{"$defs":{"t":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/t"},"maxItems":1},{"type":"array","items":{"$ref":"#/$defs/t"}}]}},"$ref":"#/$defs/t"}`
	for _, tt := range []struct{ name, schema, value string }{
		{"deep", `{"type":"array","items":{"$ref":"#"}}`, deep},
		{"each level twice", both, strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60)},
		{"wide", `{"additionalProperties":{"type":"string"}}`, `{"a":1` + strings.Repeat(`,"a":1`, 150_000) + `}`},
		{"many problems", `{"items":{"type":"string"}}`, `[1` + strings.Repeat(`,1`, 400_000) + `]`},
		{"a number", `{"maximum":5}`, `1e` + strings.Repeat("9", 10_000)},
	} {
		s, err := schema.Compile([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		found := problems(s, []byte(tt.value))
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s took %v", tt.name, took)
		}
		if len(found) > 100 {
			t.Errorf("%s: %d problems", tt.name, len(found))
		}
	}
}
