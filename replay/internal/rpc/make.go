// Package rpc reads, writes and compares the JSON-RPC messages of a replay: it exchanges
// lines with the other side, makes messages, yields the messages of a recorded frame, and
// matches recorded messages whose secrets were removed.
//
// Ids, params, results and the data of errors are inserted into messages as they are. The
// caller must pass valid JSON.
package rpc

import (
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// The codes of JSON-RPC 2.0 and of the Agent Client Protocol. The page of ACP on
// errors is empty; its schema lists the codes, and agents use them so.
const (
	InvalidRequest   = -32600
	MethodNotFound   = -32601
	InvalidParams    = -32602
	InternalError    = -32603
	RequestCancelled = -32800
	ResourceNotFound = -32002
)

// Request makes a request.
func Request(id []byte, method string, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, Quote(method), params)
}

// Notification makes a notification.
func Notification(method string, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, Quote(method), params)
}

// Result makes the successful response to the request with an id.
func Result(id, result []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// Error makes the response to a request that failed. err is a JSON object with a
// code and a message.
func Error(id, err []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, err)
}

// Failure is Error for an error that is made here. data may be nil.
func Failure(id []byte, code int, message string, data []byte) []byte {
	err := fmt.Appendf(nil, `{"code":%d,"message":%s`, code, Quote(message))
	if data != nil {
		err = append(append(err, `,"data":`...), data...)
	}
	return Error(id, append(err, '}'))
}

// Quote returns a text as a JSON string.
func Quote(text string) []byte { return wire.AppendText(nil, text) }
