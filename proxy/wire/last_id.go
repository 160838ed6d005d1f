package wire

import "bytes"

// TailSize is how many bytes of the end of a long message LastID needs.
const TailSize = 256

// LastID returns the id of a message longer than MaxChecked if it follows the large
// members, as in messages of the MCP SDK for TypeScript, and its position in end, the end
// of the message. The id is nil if there is none.
func LastID(end []byte) (id []byte, at int) {
	const key = `"id"`
	i := bytes.LastIndex(end, []byte(key))
	if i < 0 {
		return nil, 0
	}
	// An id inside a nested object is followed by one closing bracket too many.
	e := Scan(append([]byte{'{'}, end[i:]...))
	if e.Kind != Response || len(e.ID) == 0 || e.ID[0] == 'n' || e.ID[0] == '{' || e.ID[0] == '[' {
		return nil, 0
	}
	value := bytes.TrimLeft(end[i+len(key):], " \t\r\n:")
	return e.ID, len(end) - len(value)
}
