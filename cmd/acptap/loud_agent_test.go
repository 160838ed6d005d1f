package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// loudAgent is an agent that forgets its sessions. In a new one it talks without
// end, now in short frames, now in such of 4 MB.
func loudAgent() {
	in := bufio.NewReader(os.Stdin)
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	session := fmt.Sprintf("A-%d", os.Getpid())
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		id := wire.ValueAt(line, "id").Raw()
		switch wire.ValueAt(line, "method").Text() {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, id)
		case "session/new":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%q}}`, id, session)
			go func() {
				for {
					say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`, session, loudText())
				}
			}()
		case "session/prompt":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, id)
		}
	}
}

// loudText returns text of a random length, which it begins with.
func loudText() string {
	n := []int{100, 3000, 300_000, 4 << 20}[rand.IntN(4)]
	return fmt.Sprintf("live %d %s", n, strings.Repeat("x", n))
}
