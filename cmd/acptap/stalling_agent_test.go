package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/acptap/acptap/proxy/wire"
)

// stallingAgent is an agent whose turns end when the client says so. In sessions with an
// odd number it asks for a permission first.
func stallingAgent() {
	in := bufio.NewScanner(os.Stdin)
	prompts := map[string]string{} // ids of open prompts, by session
	sessions := 0
	for in.Scan() {
		line := in.Bytes()
		id, session := wire.ValueAt(line, "id").Raw(), wire.ValueAt(line, "params.sessionId").Text()
		switch wire.ValueAt(line, "method").Text() {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"sloth","version":"1"}}}`+"\n", id)
		case "session/new":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s-%d"}}`+"\n", id, sessions)
			sessions++
		case "session/prompt":
			prompts[session] = id
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"well"}}}}`+"\n", session)
			if session == "s-1" {
				fmt.Printf(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"t","title":"rm"},"options":[]}}`+"\n", session)
			}
		case "session/cancel":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`+"\n", prompts[session])
		}
	}
}
