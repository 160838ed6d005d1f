package otlp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/acptap/acptap/proxy/wire"
)

// A message is a message of OTLP that can be encoded as protobuf and as JSON: its fields in the
// order in which OTLP declares them. With the types that protoc generates the program would be
// 2 MB larger.
type message []field

type field struct {
	number protowire.Number
	name   string // in JSON
	value  any    // string, bool, int64, float64, message, []message, or one of these:
}

type (
	text    string
	id      []byte // hexadecimal in JSON
	varint  uint32 // an enum too
	fixed32 uint32
	fixed64 uint64   // a string in JSON, as is int64
	counts  []uint64 // packed, as are bounds
	bounds  []float64
)

// isUnset reports whether to leave the field out, as proto3 does with zero.
func (f *field) isUnset() bool {
	switch f.value.(type) {
	case string, bool, int64, float64: // one of several fields, or optional
		return false
	}
	return reflect.ValueOf(f.value).IsZero()
}

// appendProto appends the message as protobuf.
func (m message) appendProto(b []byte) []byte {
	for _, f := range m {
		tag := func(of protowire.Type) { b = protowire.AppendTag(b, f.number, of) }
		sized := func(add func()) { // adds what its size comes before
			tag(protowire.BytesType)
			at := len(b)
			add()
			b = slices.Insert(b, at, protowire.AppendVarint(nil, uint64(len(b)-at))...)
		}
		if f.isUnset() {
			continue
		}
		switch v := f.value.(type) {
		case string:
			tag(protowire.BytesType)
			b = protowire.AppendString(b, strings.ToValidUTF8(v, "\ufffd"))
		case text:
			tag(protowire.BytesType)
			b = protowire.AppendString(b, strings.ToValidUTF8(string(v), "\ufffd"))
		case id:
			tag(protowire.BytesType)
			b = protowire.AppendBytes(b, v)
		case bool:
			tag(protowire.VarintType)
			b = protowire.AppendVarint(b, protowire.EncodeBool(v))
		case int64:
			tag(protowire.VarintType)
			b = protowire.AppendVarint(b, uint64(v))
		case varint:
			tag(protowire.VarintType)
			b = protowire.AppendVarint(b, uint64(v))
		case fixed32:
			tag(protowire.Fixed32Type)
			b = protowire.AppendFixed32(b, uint32(v))
		case fixed64:
			tag(protowire.Fixed64Type)
			b = protowire.AppendFixed64(b, uint64(v))
		case float64:
			tag(protowire.Fixed64Type)
			b = protowire.AppendFixed64(b, math.Float64bits(v))
		case counts:
			sized(func() {
				for _, n := range v {
					b = protowire.AppendFixed64(b, n)
				}
			})
		case bounds:
			sized(func() {
				for _, x := range v {
					b = protowire.AppendFixed64(b, math.Float64bits(x))
				}
			})
		case message:
			sized(func() { b = v.appendProto(b) })
		case []message:
			for _, one := range v {
				sized(func() { b = one.appendProto(b) })
			}
		default:
			panic(fmt.Sprintf("otlp: %s is a %T", f.name, v))
		}
	}
	return b
}

// appendJSON appends the message as OTLP/JSON, in which enums are numbers and ids hexadecimal
// (OTLP specification, "JSON Protobuf Encoding").
func (m message) appendJSON(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	for _, f := range m {
		if f.isUnset() {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.name...), `":`...)
		switch v := f.value.(type) {
		case string:
			b = wire.AppendText(b, v)
		case text:
			b = wire.AppendText(b, string(v))
		case id:
			b = append(hex.AppendEncode(append(b, '"'), v), '"')
		case bool:
			b = strconv.AppendBool(b, v)
		case int64:
			b = append(strconv.AppendInt(append(b, '"'), v, 10), '"')
		case varint:
			b = strconv.AppendUint(b, uint64(v), 10)
		case fixed32:
			b = strconv.AppendUint(b, uint64(v), 10)
		case fixed64:
			b = appendNumber(b, uint64(v))
		case float64:
			b = appendFloat(b, v)
		case counts:
			b = appendList(b, v, appendNumber)
		case bounds:
			b = appendList(b, v, appendFloat)
		case message:
			b = v.appendJSON(b)
		case []message:
			b = appendList(b, v, func(b []byte, m message) []byte { return m.appendJSON(b) })
		}
	}
	return append(b, '}')
}

func appendNumber(b []byte, n uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), n, 10), '"')
}

func appendFloat(b []byte, x float64) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	case math.IsNaN(x):
		return append(b, `"NaN"`...)
	}
	number, _ := json.Marshal(x) // a finite number has a form
	return append(b, number...)
}

func appendList[T any](b []byte, list []T, add func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = add(b, one)
	}
	return append(b, ']')
}

// fields calls see with the fields of an encoded message. It reports whether that is one.
func fields(b []byte, see func(number protowire.Number, of protowire.Type, value []byte)) bool {
	for len(b) > 0 {
		number, of, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return false
		}
		n := protowire.ConsumeFieldValue(number, of, b[tag:])
		if n < 0 {
			return false
		}
		see(number, of, b[tag:tag+n])
		b = b[tag+n:]
	}
	return true
}
