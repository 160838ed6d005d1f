// Package schema has the shapes of the messages of ACP and MCP, and checks values
// against them: which members have to be there, of which types and with which
// values. It says where a value does not fit, and what else can be said by the
// schema alone; what that means is for the rules of package conform.
//
// The shapes are facts of the published JSON schemas (NOTICE says of which), joined
// into shapes.zst by generate.go. A value is checked over its bytes, which wire has
// found to be JSON. What a check costs is bounded, whatever the value is: what lies
// beyond is not judged, and nothing is said about it.
package schema

//go:generate go run generate.go -acp $ACP_SCHEMA -former $ACP_FORMER -mcp $MCP_SCHEMA

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// A Shape is what a value has to be. It can be used by several goroutines.
type Shape struct {
	root   *node
	absent bool // the value may be left out
}

// Check calls report for each Problem of a value, in the order in which they stand
// in it; nil stands for a value that is not there. Of members that occur twice the
// last counts. At most 100 problems are reported, and what is nested deeper than 64
// levels is not judged. For a value without a Problem nothing is allocated.
func (s *Shape) Check(value []byte, report func(Problem)) {
	if len(value) == 0 && s.absent {
		return
	}
	c := checker{report: report, budget: maxSteps}
	c.value(s.root, value)
}

// Compile returns the shape that a JSON schema of the draft 2020-12 or 7 describes,
// such as the outputSchema of a tool. An error means that the schema cannot be
// judged by: it is none, uses a keyword that is not known here, refers to something
// outside of it, or is too large.
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
	p, err := r.schema(schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	j := joiner{made: map[string]*node{}}
	n, err := j.join(p)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Shape{root: n}, nil
}

// maxSchema is the longest schema that Compile takes, in bytes.
const maxSchema = 64 << 10
