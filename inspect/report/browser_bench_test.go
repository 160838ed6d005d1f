package report_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/testdata/browsertest"
)

// BenchmarkInBrowser measures how long a page takes to be made and to be used in a browser.
// Limits: of 10,000 frames 500 made-ms and 1,000 ready-ms, at most 3 MB; of 100,000 frames
// 4,000 made-ms, 50 filter-ms and text-ms, and no frame-ms over 50; of 2,000 calls 1,000
// ready-ms, 30 screens and 300 stops.
func BenchmarkInBrowser(b *testing.B) {
	browser := browsertest.Start(b)
	for _, tape := range []struct {
		name string
		of   func() report.Tape
	}{
		{"10000 frames", func() report.Tape { return report.Tape{Frames: session(100, 98, words)} }},
		{"10000 frames of prose", func() report.Tape { return report.Tape{Frames: working(10_000)} }},
		{"100000 frames", func() report.Tape { return report.Tape{Frames: session(1000, 98, words)} }},
		{"100000 frames of prose", func() report.Tape { return report.Tape{Frames: working(100_000)} }},
		{"2000 calls", func() report.Tape { return manyCalls(b, 12, 167) }},
	} {
		b.Run(tape.name, func(b *testing.B) {
			in := report.Input{Tapes: []report.Tape{tape.of()}}
			worst := map[string]float64{}
			note := func(what string, n float64) { worst[what] = max(worst[what], n) }
			for b.Loop() {
				began := time.Now()
				page := write(b, in)
				note("made-ms", float64(time.Since(began).Milliseconds()))
				note("MB", float64(len(page))/1e6)
				tab := open(browser, b, page, "")
				note("ready-ms", eval[float64](tab, `Number(document.documentElement.dataset.ready)`))
				note("screens", eval[float64](tab, `document.documentElement.scrollHeight / innerHeight`))
				note("stops", eval[float64](tab, tabStops+`.length`))
				eval[bool](tab, filtered+`; true`)
				note("filter-ms", eval[float64](tab, `filtered('turn:7 !kind:notification | latency:>1s')`))
				eval[bool](tab, `document.getElementById('query').focus(); true`) // with which unpacking begins
				note("unpack-ms", eval[float64](tab, `filtered('returns')`))
				note("text-ms", eval[float64](tab, `filtered('mean wrong | "Connection"')`))
				eval[float64](tab, `filtered('')`)
				note("frame-ms", eval[float64](tab, scrolled(`document.getElementById('list')`)))
				note("story-frame-ms", eval[float64](tab, scrolled(`document.documentElement`)))
				note("open-ms", eval[float64](tab, `(async () => {
					const began = performance.now();
					document.querySelector('.row').click();
					await new Promise(done => { const look = () => document.querySelector('.tree .leaf') ? done() : setTimeout(look); look(); });
					return performance.now() - began;
				})()`))
			}
			for what, n := range worst {
				b.ReportMetric(n, what)
			}
		})
	}
}

// filtered defines a function that returns how long a filter takes until its rows are laid out.
const filtered = `window.filtered = async text => {
	const query = document.getElementById('query'), list = document.getElementById('list'), began = performance.now();
	query.value = text;
	query.dispatchEvent(new Event('input'));
	await 0;
	while (list.ariaBusy === 'true') await new Promise(r => setTimeout(r));
	list.offsetHeight;
	return performance.now() - began;
}`

// scrolled returns an expression for the longest time between two frames while an element is
// scrolled from its beginning to its end. A screen of 60 Hz has a frame each 17 ms.
func scrolled(element string) string {
	return `(async () => {
		const e = ` + element + `, steps = 60;
		e.scrollIntoView();
		let worst = 0, before = await new Promise(requestAnimationFrame);
		for (let n = 1; n <= steps; n++) {
			e.scrollTop = (e.scrollHeight - e.clientHeight) * n / steps;
			const now = await new Promise(requestAnimationFrame);
			if (n > 1) worst = Math.max(worst, now - before);
			before = now;
		}
		return worst;
	})()`
}

// working is a made tape of turns as agents have them: thoughts, text, and tool calls with
// output, of words.
func working(frames int) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		random := rand.New(rand.NewPCG(20, 26))
		vocabulary := strings.Fields(`the loop begins at one and skips the first value so that the mean is wrong when a list has several zeros
			we should return an error instead of a result because the caller checks only for nil in parse which reads the configuration
			from disk before the server listens on its port and closes each connection after a timeout while the tests pass`)
		text := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteString(" " + vocabulary[random.IntN(len(vocabulary))])
			}
			return b.String()
		}
		track := dialect.NewTracker(dialect.ACP)
		n := 0
		add := func(dir wire.Direction, format string, args ...any) {
			if n++; n <= frames && !yield(madeFrame(track, uint64(n), dir, `{"jsonrpc":"2.0",`+fmt.Sprintf(format, args...)+"}"), nil) {
				n = frames
			}
		}
		update := func(update any) {
			b, _ := json.Marshal(update)
			add(wire.AgentToClient, `"method":"session/update","params":{"sessionId":"s","update":%s}`, b)
		}
		say := func(kind string) {
			update(map[string]any{"sessionUpdate": kind, "content": map[string]any{"type": "text", "text": text(1 + random.IntN(4))}})
		}
		add(wire.ClientToAgent, `"id":0,"method":"initialize","params":{"protocolVersion":1}`)
		add(wire.AgentToClient, `"id":0,"result":{"protocolVersion":1}`)
		add(wire.ClientToAgent, `"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}`)
		add(wire.AgentToClient, `"id":1,"result":{"sessionId":"s"}`)
		for turn := 2; n < frames; turn++ {
			add(wire.ClientToAgent, `"id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%q}]}`, turn, text(8+random.IntN(50)))
			for round := range 1 + random.IntN(6) {
				for range 3 + random.IntN(27) {
					say("agent_thought_chunk")
				}
				for range 10 + random.IntN(50) {
					say("agent_message_chunk")
				}
				for call := range random.IntN(5) {
					id, status := fmt.Sprint(turn, "-", round, "-", call), "completed"
					if random.IntN(20) == 0 {
						status = "failed"
					}
					kind := []string{"read", "edit", "execute", "search"}[random.IntN(4)]
					update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": kind + text(2), "kind": kind, "status": "pending", "rawInput": map[string]string{"command": text(6)}})
					update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
						"content": []any{map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": text(5 + random.IntN(200))}}}})
				}
			}
			add(wire.AgentToClient, `"id":%d,"result":{"stopReason":"end_turn"}`, turn)
		}
	}
}
