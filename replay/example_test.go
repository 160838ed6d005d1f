package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// A tape in the portable form is played to a client that makes other ids than the
// recorded one, and then asks for something else.
func Example() {
	tape, err := record.ReadPortable(strings.NewReader(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
`), "greeting")
	if err != nil {
		fmt.Println(err)
		return
	}
	client := strings.NewReader(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":"b","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
{"jsonrpc":"2.0","method":"session/set_colour","params":{"sessionId":"s"}}
`)
	var answers bytes.Buffer
	agent := replay.Agent{Tapes: []*record.Tape{tape}}
	report, err := agent.Run(context.Background(), client, &answers, io.Discard)
	fmt.Print(answers.String())
	fmt.Println(err)
	fmt.Print(report.String())
	// Output:
	// {"jsonrpc":"2.0","id":"a","result":{"protocolVersion":1}}
	// {"jsonrpc":"2.0","id":"b","result":{"sessionId":"s"}}
	// the client left the tape
	// miss: session/set_colour was sent, and is not on the tape
}
