package replay

import "encoding/json"

// Error codes, of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	codeInvalid  = -32600
	codeNoMethod = -32601
	codeInternal = -32603 // also of a miss: some clients take others for a method or a session that is missing and silently do without, or log in
	codeNoFile   = -32002
)

// failure makes the answer to a request that is refused. data may be nil.
func failure(id []byte, code int, text string, data any) []byte {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	b, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", id, object{code, "acptap replay: " + text, data}})
	if err != nil {
		panic("replay: " + err.Error()) // the id was read from JSON
	}
	return b
}
