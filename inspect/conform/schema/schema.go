// Package schema has the shapes of ACP and MCP messages, and checks values against them:
// required members, types and values. It reports where a value does not fit, and whatever
// else the schema alone decides; the rules of package conform decide what that means.
//
// The shapes are facts of the published JSON schemas (see NOTICE), joined into shapes.zst
// by testdata/generate. Values must be valid JSON, which wire has checked. The cost of a
// check is bounded for any value; what lies beyond the bounds is not judged.
package schema

//go:generate go run ./testdata/generate -acp $ACP_SCHEMA -former $ACP_FORMER -mcp $MCP_SCHEMA

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// A Shape describes what a value must be. It is safe for concurrent use.
type Shape struct {
	root   *node
	absent bool // the value may be absent
}

// Check calls report for each Problem of a value, in order; a nil value is a missing one.
// The last of duplicate members counts. Check reports at most 100 problems, and does not
// judge anything nested deeper than 64 levels. It allocates nothing for a value without
// problems.
func (s *Shape) Check(value []byte, report func(Problem)) {
	if len(value) == 0 && s.absent {
		return
	}
	c := checker{report: report, budget: maxSteps}
	c.value(s.root, value)
}

// Compile returns the shape of a JSON schema (draft 2020-12 or 7), such as a tool's
// outputSchema. It fails if the text is not such a schema, uses an unknown keyword,
// refers to something outside of itself, or is too large.
func Compile(schema []byte) (*Shape, error) {
	schema = bytes.TrimSpace(schema)
	if len(schema) > maxSchema || !json.Valid(schema) {
		return nil, errors.New("schema: too long, or not JSON")
	}
	r := newReader(schema)
	switch draft := wire.Text(wire.Get(schema, "$schema")); draft {
	case "", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema":
	case "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema":
		r.old = true
	default:
		return nil, fmt.Errorf("schema: the draft %q is not known here", draft)
	}
	n, err := r.node(schema, &joiner{made: map[string]*node{}})
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Shape{root: n}, nil
}

// maxSchema limits the schemas that Compile accepts, in bytes.
const maxSchema = 64 << 10
