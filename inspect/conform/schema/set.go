package schema

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Set holds the shapes of one dialect of ACP, or of one revision of MCP.
type Set struct {
	methods map[string]method
}

// A method holds the shapes of one method's messages.
type method struct {
	request, notification, result, task *Shape
}

// Of returns the shapes of a dialect, or of a revision of MCP such as 2025-06-18; nil if
// none are known.
func Of(d dialect.Dialect, version string) *Set {
	name := version
	if d.Protocol() == dialect.ACP {
		name = d.String()
	}
	packed, ok := sets()[d.Protocol().String()+" "+name]
	if !ok {
		return nil
	}
	return packed.set()
}

// Params returns the shape of the params of a request or notification; nil if the
// specification has no such message.
func (s *Set) Params(method string, request bool) *Shape {
	if request {
		return s.methods[method].request
	}
	return s.methods[method].notification
}

// Result returns the shape of a request's result; nil if the specification has no such
// request.
func (s *Set) Result(method string) *Shape { return s.methods[method].result }

// TaskResult returns the shape of the result of a request with a task (MCP 2025-11-25);
// nil if it cannot have one.
func (s *Set) TaskResult(method string) *Shape { return s.methods[method].task }

// Methods returns the specification's methods, in no particular order.
func (s *Set) Methods() []string { return slices.Collect(maps.Keys(s.methods)) }

// A packed set is unpacked on first use.
type packed struct {
	text []byte // a JSON object in the format that testdata/generate describes
	set  func() *Set
}

// shapes has a line for each set: protocol, name, and its text, with blanks between.
//
//go:embed shapes.zst
var shapes []byte

// sets unpacks the sets, by protocol and name.
var sets = sync.OnceValue(func() map[string]packed {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("schema: " + err.Error())
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(shapes, nil)
	if err != nil {
		panic("schema: " + err.Error())
	}
	all := map[string]packed{}
	for line := range bytes.Lines(text) {
		words := bytes.SplitN(bytes.TrimSpace(line), []byte(" "), 3)
		key := string(words[0]) + " " + string(words[1])
		all[key] = packed{words[2], sync.OnceValue(func() *Set {
			s, err := newSet(words[2], string(words[0]) == dialect.ACP.String())
			if err != nil {
				panic(fmt.Sprintf("schema: %s: %v", key, err))
			}
			return s
		})}
	}
	return all
})

// newSet compiles the shapes of one line.
func newSet(text []byte, strict bool) (*Set, error) {
	s := &Set{methods: map[string]method{}}
	r := newReader(text)
	j := joiner{made: map[string]*node{}, strict: strict}
	for name, of := range wire.Members(wire.Get(text, "methods")) {
		var m method
		for kind, to := range map[string]**Shape{
			"request": &m.request, "notification": &m.notification, "result": &m.result, "task": &m.task,
		} {
			schema := wire.Get(of, kind)
			if len(schema) == 0 {
				continue
			}
			n, err := r.node(schema, &j)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, kind, err)
			}
			*to = &Shape{root: n, absent: len(wire.Get(of, "optional")) > 0 && kind != "result"}
		}
		s.methods[string(name)] = m
	}
	return s, nil
}
