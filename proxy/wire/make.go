package wire

import "fmt"

// The error codes of JSON-RPC 2.0 and of the Agent Client Protocol. ACP's page on errors
// is empty; its schema lists the codes, and agents use them accordingly.
const (
	ParseError       = -32700
	InvalidRequest   = -32600
	MethodNotFound   = -32601
	InvalidParams    = -32602
	InternalError    = -32603
	RequestCancelled = -32800
	ResourceNotFound = -32002
)

// NewRequest makes a request. Like the functions below it inserts ids, params, results
// and error data verbatim: the caller must pass valid JSON.
func NewRequest(id []byte, method string, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, Quote(method), params)
}

// NewNotification makes a notification.
func NewNotification(method string, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, Quote(method), params)
}

// NewResult makes the successful response to the request with an id.
func NewResult(id, result []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// NewError makes the response to a failed request. err is a JSON object with a code and a
// message.
func NewError(id, err []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, err)
}

// NewFailure is NewError with the error's members as arguments. data may be nil.
func NewFailure(id []byte, code int, message string, data []byte) []byte {
	err := fmt.Appendf(nil, `{"code":%d,"message":%s`, code, Quote(message))
	if data != nil {
		err = append(append(err, `,"data":`...), data...)
	}
	return NewError(id, append(err, '}'))
}

// Quote returns a text as a JSON string.
func Quote(text string) []byte { return AppendText(nil, text) }
