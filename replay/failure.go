package replay

import (
	"encoding/json"
	"fmt"
)

// Error codes, of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	codeInvalid  = -32600
	codeNoMethod = -32601
	codeInternal = -32603 // also of a miss: some clients take others for a method or a session that is missing and silently do without, or log in
	codeNoFile   = -32002
)

// success makes the answer to the request with the id, which is as its sender
// wrote it: nothing of it is decoded.
func success(id, result []byte) []byte { return response(id, "result", result) }

func response(id []byte, member string, value []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":%s}`, id, member, value)
}

// failure makes the answer to a request that is refused. data may be nil.
func failure(id []byte, code int, text string, data any) []byte {
	b, err := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{code, "acptap replay: " + text, data})
	if err != nil {
		panic("replay: " + err.Error()) // all of it is ours
	}
	return response(id, "error", b)
}
