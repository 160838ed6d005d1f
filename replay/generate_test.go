package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// talk makes a tape of a connection with several sessions, whose turns,
// permissions, cancels and calls are interleaved at random.
func talk(r *rand.Rand) string {
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
			add(update) // behind the turn
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

func TestConversations(t *testing.T) {
	for seed := range uint64(40) {
		text := talk(rand.New(rand.NewPCG(seed, 1)))
		for _, r := range robots {
			t.Run(fmt.Sprintf("%d/%s", seed, r.name), func(t *testing.T) {
				t.Parallel()
				tape, err := record.ReadPortable(strings.NewReader(text), "generated")
				if err != nil {
					t.Fatal(err)
				}
				checkRobot(t, r, tape, replay.Agent{})
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

// However a client's lines are chosen, the agent ends, and does so the same way
// each time. Give it -fuzzminimizetime 10x: else all of its time goes into looking
// for a shorter form of each input that is new, a minute each.
func FuzzAgent(f *testing.F) {
	f.Add([]byte(`{"dir":"c2a","frame":{"id":1,"method":"session/new","params":{"cwd":"/w"}}}
{"dir":"a2c","frame":{"id":1,"result":{"sessionId":"s"}}}
{"dir":"err","text":"x"}
{"dir":"c2a","frame":{"id":2,"method":"session/prompt","params":{"sessionId":"s"}}}
{"dir":"a2c","frame":{"method":"session/update","params":{"sessionId":"s"}}}
{"dir":"a2c","frame":{"id":2,"result":{}}}`), []byte(`{"id":7,"method":"session/new","params":{"cwd":"/v"}}
{"id":8,"method":"session/prompt","params":{"sessionId":"s"}}`), uint8(0))
	f.Add([]byte(`{"dir":"a2c","frame":[{"id":1,"result":1}]}`), []byte(`[{"id":1,"method":"x"},{"id":2}]`), uint8(1))
	f.Add([]byte(`{"dir":"c2a","frame":[{"id":1,"method":"x"},{"id":1,"method":"x"}]}`+"\n"+`{"dir":"a2c","frame":[{"id":1,"result":1},{"id":1,"result":1}]}`), []byte(`[{"id":1,"method":"x"},{"id":2,"method":"x"}]`), uint8(2))
	f.Fuzz(func(t *testing.T, file, client []byte, match uint8) {
		tape, err := record.ReadPortable(bytes.NewReader(file), "fuzz")
		if err != nil {
			return
		}
		if info, err := tape.Info(); err != nil || info.Lines == 0 {
			return
		}
		var outs [2]bytes.Buffer
		for i := range outs {
			agent := replay.Agent{Tapes: []*record.Tape{tape}, Matching: replay.Matching(match % 3), Cwd: "/"}
			done := make(chan error, 1)
			go func() {
				_, err := agent.Run(t.Context(), bytes.NewReader(client), &outs[i], io.Discard)
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil && !errors.Is(err, replay.ErrDiverged) {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it does not end")
			}
		}
		if !bytes.Equal(outs[0].Bytes(), outs[1].Bytes()) {
			t.Errorf("twice the same gave\n%s\nand\n%s", &outs[0], &outs[1])
		}
	})
}
