package conform

import "bytes"

// rpcRules are about the lines and messages of JSON-RPC, in both protocols.
var rpcRules = []Rule{
	{
		ID: "RPC005", Name: "jsonrpc-member",
		Clauses: []Clause{{Strength: Violation, Word: "MUST", Source: jsonrpc("Request object", "request_object")}},
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages}},
		Text: Text{
			Asks:  "Each message says which protocol it is of: its member `jsonrpc` is exactly `\"2.0\"`.",
			Finds: "A message without `jsonrpc`, or with another value.",
			Do:    "send `\"jsonrpc\":\"2.0\"` with each message",
		},
		Check: jsonrpcMember,
	},
	{
		ID: "RPC018", Name: "unanswered",
		Clauses: []Clause{{Strength: Warning, Word: "MUST", Source: jsonrpc("Response object", "response_object")}},
		Fault:   Sender, Needs: End,
		On: []On{{Kinds: Ends}},
		Text: Text{
			Asks:   "Each request gets a response, be it an error.",
			Finds:  "A request without a response, though the side that had to answer it later ended by itself.",
			Spares: "Requests of MCP that their sender cancelled, and those which only the end of the connection answers.",
			Do:     "answer each request before you end, if only with an error",
		},
		Check: unanswered,
	},
}

func jsonrpcMember(s *Step, r *Report) {
	r.Tried()
	if s.Entry < 0 && bytes.HasPrefix(s.Frame.Raw, []byte(`{"jsonrpc":"2.0",`)) {
		return
	}
	if v := get(s.raw(), "jsonrpc"); string(v) != `"2.0"` {
		r.Add(Evidence{Text: "says another jsonrpc than 2.0", Path: "jsonrpc", Want: `"2.0"`, Got: string(v)})
	}
}

func unanswered(s *Step, r *Report) {
	for call := range s.Conn.calls.All() {
		side := Client + Agent - call.From
		if !s.Conn.EndedItself(side) {
			continue
		}
		r.Add(Evidence{Text: "did not answer " + call.Method, Seq: call.Seq, Of: call, By: side})
	}
}
