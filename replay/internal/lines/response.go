package lines

import (
	"encoding/json"
	"fmt"
)

// Error codes, of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	CodeInvalid  = -32600
	CodeNoMethod = -32601
	CodeInternal = -32603 // also of a miss: some clients take others for a method or a session that is missing and silently do without, or log in
	CodeNoFile   = -32002
)

// Result makes the answer to the request with the id, which is as its sender
// wrote it: nothing of it is decoded.
func Result(id, result []byte) []byte { return response(id, "result", result) }

func response(id []byte, member string, value []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":%s}`, id, member, value)
}

// Failure makes the answer to a request that is refused. data may be nil.
func Failure(id []byte, code int, text string, data any) []byte {
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
