package dialect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// A callKey identifies a request, or anything else to which one side has given an id.
// Each direction has its own ids, and `7` and `"7"` are different (JSON-RPC 2.0, section
// 4). Over HTTP, two clients on a guessed connection may use the same ids at once, so a
// key includes the stream; over stdio it is always 0.
type callKey struct {
	Dir    wire.Direction `json:"dir"`
	ID     string         `json:"id"`
	Stream uint64         `json:"stream,omitempty"`
}

// IDKey returns a key that is the same for all spellings of an id, because a peer that
// decodes ids may answer 2.0 with 2, and "a\/b" with "a/b". `7` and `"7"` are different
// (JSON-RPC 2.0, section 4). The key of a very long id is a digest.
func IDKey(id []byte) string {
	switch {
	case len(id) == 0:
	case id[0] == '"' && bytes.IndexByte(id, '\\') > 0:
		if text, ok := wire.Unquote(id); ok {
			id = slices.Concat([]byte{'"'}, text, []byte{'"'})
		}
	case id[0] != '"' && bytes.ContainsAny(id, ".eE"):
		if n, ok := wire.Integer(id); ok && n > -1<<53 && n < 1<<53 { // a float64 is exact
			id = strconv.AppendInt(nil, n, 10)
		}
	}
	if len(id) <= 64 && utf8.Valid(id) {
		return string(id)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:])
}

// A callMap is a bounded.Map that also finds entries with the same id on another stream.
type callMap[V any] struct {
	bounded.Map[callKey, V]
	streams map[callKey][]uint64 // streams other than 0, by the key with stream 0; newest last
}

// find returns the value of a key and the key it was found under: that one, or else the
// newest with the same id on another stream. An answer may come on a resumed stream, and
// the answer to a server has its own stream (MCP 2025-11-25, Streamable HTTP).
func (m *callMap[V]) find(key callKey) (at callKey, v V, ok bool) {
	if v, ok = m.Get(key); ok {
		return key, v, true
	}
	key.Stream = 0
	if streams := m.streams[key]; len(streams) > 0 {
		key.Stream = streams[len(streams)-1]
	}
	v, ok = m.Get(key)
	return key, v, ok
}

// Set makes key the newest entry. It returns the entry that this evicts, if any.
func (m *callMap[V]) Set(key callKey, v V) (forgotten V, full bool) {
	m.Drop(key)
	if full = m.Len() >= m.Limit; full {
		for oldest, value := range m.All() {
			forgotten = value
			m.Drop(oldest)
			break
		}
	}
	m.Map.Set(key, v)
	if key.Stream != 0 {
		if m.streams == nil {
			m.streams = make(map[callKey][]uint64)
		}
		whole := callKey{Dir: key.Dir, ID: key.ID}
		m.streams[whole] = append(m.streams[whole], key.Stream)
	}
	return forgotten, full
}

// Drop removes a key, if it is there.
func (m *callMap[V]) Drop(key callKey) {
	m.Map.Drop(key)
	if key.Stream == 0 {
		return
	}
	whole := callKey{Dir: key.Dir, ID: key.ID}
	streams := m.streams[whole]
	i := slices.Index(streams, key.Stream)
	switch {
	case i < 0:
	case len(streams) == 1:
		delete(m.streams, whole)
	default:
		m.streams[whole] = slices.Delete(streams, i, i+1)
	}
}
