package wire

import "bytes"

// TailSize is how many bytes of the end of a long message LastID needs.
const TailSize = 256

// LastID returns the id of a message that is longer than MaxChecked, if it stands
// behind the large members, as the MCP SDK for TypeScript writes it, and where in
// end that is. end is the end of the message. The id is nil if there is none.
func LastID(end []byte) (id []byte, at int) {
	const key = `"id"`
	i := bytes.LastIndex(end, []byte(key))
	if i < 0 {
		return nil, 0
	}
	// In an object inside, one more bracket than fits follows.
	e := Scan(append([]byte{'{'}, end[i:]...))
	if e.Kind != Response || len(e.ID) == 0 || e.ID[0] == 'n' || e.ID[0] == '{' || e.ID[0] == '[' {
		return nil, 0
	}
	value := bytes.TrimLeft(end[i+len(key):], " \t\r\n:")
	return e.ID, len(end) - len(value)
}
