package shim

import (
	"encoding/json"

	"github.com/acptap/acptap/proxy/wire"
)

// members are the members of a JSON object, or the elements of an array, as JSON.
type members []byte

// add appends a member, unless its value is nil.
func (m members) add(name string, value []byte) members {
	if value == nil {
		return m
	}
	if len(m) > 0 {
		m = append(m, ',')
	}
	m = append(wire.AppendText(m, name), ':')
	return append(m, value...)
}

// text appends a member that is a string, unless it is empty.
func (m members) text(name, value string) members {
	if value == "" {
		return m
	}
	return m.add(name, wire.Quote(value))
}

// object returns the object made of the members.
func (m members) object() []byte {
	b := append(make([]byte, 0, len(m)+2), '{')
	return append(append(b, m...), '}')
}

// element appends an element of an array.
func (m members) element(v []byte) members {
	if len(m) > 0 {
		m = append(m, ',')
	}
	return append(m, v...)
}

// array returns the array made of the elements.
func (m members) array() []byte {
	b := append(make([]byte, 0, len(m)+2), '[')
	return append(append(b, m...), ']')
}

func array(list []json.RawMessage) []byte {
	var m members
	for _, v := range list {
		m = m.element(v)
	}
	return m.array()
}
