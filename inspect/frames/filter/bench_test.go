package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// traffic returns frames as an agent at work sends them: chunks of prose, and
// files full of escapes.
func traffic() (list []*filter.Subject, size int64) {
	prose := `Let me look at the tests first, then I can say why the mean of the three numbers is wrong.`
	code := strings.Repeat(`func Mean(xs []float64) float64 {\n\tsum := 0.0\n\tfor i := 1; i < len(xs); i++ {\n\t\tsum += xs[i] // \"caf\u00e9\"\n\t}\n\treturn sum / float64(len(xs))\n}\n\n`, 20)
	for i := range 1000 {
		update, text := "agent_message_chunk", prose
		if i%20 == 0 {
			update, text = "tool_call_update", code
		}
		raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-0193a7","update":{"sessionUpdate":%q,"toolCallId":"call-%d","content":{"type":"text","text":"%s"}}}}`, update, i, text)
		size += int64(len(raw))
		list = append(list, &filter.Subject{Frame: &dialect.Frame{
			Frame:      wire.Frame{Seq: uint64(i + 1), Kind: wire.Notification, Dir: wire.AgentToClient, Raw: raw, Size: int64(len(raw))},
			Annotation: dialect.Annotation{Method: "session/update", Update: update, Session: "sess-0193a7"},
		}})
	}
	return list, size
}

func BenchmarkMatch(b *testing.B) {
	for _, bm := range []struct{ name, query string }{
		{"text", "sought after"},
		{"text case", "Sought"},
		{"text common", "sealion"},
		{"text unicode", "порт"},
		{"regexp", "text~so.ght"},
		{"path", ".params.update.status:failed"},
		{"id", "id:7"},
		{"tool", "tool:none"},
		{"field", "method:fs/*"},
		{"fields", "kind:request | update:*_chunk seq>1000"},
		{"field before text", "sought update:none"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			f, err := filter.Parse(bm.query)
			if err != nil {
				b.Fatal(err)
			}
			list, size := traffic()
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				for _, s := range list {
					if f.Match(s) {
						b.Fatalf("a match in %s", s.Raw)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/frame")
		})
	}
}
