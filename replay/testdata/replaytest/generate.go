package replaytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Talk makes a tape of a connection with several sessions, whose turns,
// permissions, cancels and calls are interleaved at random.
func Talk(r *rand.Rand) string {
	g := &generator{r: r}
	g.client(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1}}`, g.request())
	g.agent(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1,"agentCapabilities":{}}}`, 0)
	var lines []func() bool // each makes one step and reports whether there is more
	for n := range 1 + r.IntN(3) {
		lines = append(lines, g.session(fmt.Sprintf("s%d", n)))
	}
	lines = append(lines, g.calls(), g.beside())
	for len(lines) > 0 {
		i := r.IntN(len(lines))
		if !lines[i]() {
			lines = append(lines[:i], lines[i+1:]...)
		}
	}
	return g.tape.String()
}

type generator struct {
	r        *rand.Rand
	tape     strings.Builder
	requests int // of the client
	asks     int // of the agent
	words    int
}

func (g *generator) client(format string, args ...any) {
	fmt.Fprintf(&g.tape, `{"dir":"c2a","frame":`+format+"}\n", args...)
}

func (g *generator) agent(format string, args ...any) {
	fmt.Fprintf(&g.tape, `{"dir":"a2c","frame":`+format+"}\n", args...)
}

func (g *generator) request() int {
	g.requests++
	return g.requests - 1
}

func (g *generator) ask() int {
	g.asks++
	return g.asks - 1
}

func (g *generator) word() int {
	g.words++
	return g.words
}

// session returns the steps of a session: its setup, and turns with answers,
// questions and cancels.
func (g *generator) session(id string) func() bool {
	var steps []func()
	add := func(step func()) { steps = append(steps, step) }
	var req, ask int
	update := func() {
		kind := "agent_message_chunk"
		if g.r.IntN(6) == 0 {
			kind = "available_commands_update"
		}
		g.agent(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q,"content":{"type":"text","text":"word %d"}}}}`, id, kind, g.word())
	}
	add(func() {
		req = g.request()
		g.client(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/w/%s","mcpServers":[]}}`, req, id)
	})
	if g.r.IntN(4) == 0 {
		add(update) // before the answer, as hasty agents do
	}
	add(func() { g.agent(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":%q}}`, req, id) })
	for range g.r.IntN(4) {
		add(func() {
			req = g.request()
			g.client(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"ask %d"}]}}`, req, id, g.word())
		})
		reason := "end_turn"
		for range g.r.IntN(5) {
			switch g.r.IntN(3) {
			case 0:
				add(func() {
					ask = g.ask()
					g.agent(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"t%d"},"options":[]}}`, ask, id, g.word())
				})
				add(func() {
					g.client(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"o%d"}}}`, ask, g.word())
				})
			default:
				add(update)
			}
		}
		if g.r.IntN(4) == 0 {
			add(func() {
				ask = g.ask()
				g.agent(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"t%d"},"options":[]}}`, ask, id, g.word())
			})
			add(func() { g.client(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id) })
			add(func() { g.client(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"cancelled"}}}`, ask) })
			reason = "cancelled"
		}
		add(func() { g.agent(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":%q}}`, req, reason) })
		if g.r.IntN(3) == 0 {
			add(update) // after the turn
		}
	}
	return func() bool {
		steps[0]()
		steps = steps[1:]
		return len(steps) > 0
	}
}

// calls returns the steps of calls that belong to no turn. Several may be open,
// and are answered in any order.
func (g *generator) calls() func() bool {
	left := g.r.IntN(5)
	var open []int
	return func() bool {
		if left > 0 && (len(open) == 0 || g.r.IntN(2) == 0) {
			left--
			id := g.request()
			open = append(open, id)
			g.client(`{"jsonrpc":"2.0","id":%d,"method":"_x/call","params":{"n":%d}}`, id, g.word())
		} else if len(open) > 0 {
			i := g.r.IntN(len(open))
			g.agent(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, open[i], g.word())
			open = append(open[:i], open[i+1:]...)
		}
		return left > 0 || len(open) > 0
	}
}

// beside returns the steps of what belongs to no session.
func (g *generator) beside() func() bool {
	left := g.r.IntN(6)
	return func() bool {
		switch left--; {
		case left < 0:
		case g.r.IntN(2) == 0:
			g.agent(`{"jsonrpc":"2.0","method":"_x/status","params":{"n":%d}}`, g.word())
		case g.r.IntN(4) == 0:
			fmt.Fprintf(&g.tape, `{"dir":"a2c","text":"word %d"}`+"\n", g.word())
		default:
			fmt.Fprintf(&g.tape, `{"dir":"err","text":"word %d"}`+"\n", g.word())
		}
		return left > 0
	}
}
