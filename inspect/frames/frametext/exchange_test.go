package frametext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// streamTape is a conversation over HTTP: direction, stream, and the frame or the mark.
const streamTape = `
> 1 mark {"http":{"stream":1,"method":"POST","target":"/mcp"}}
> 1 {"jsonrpc":"2.0","id":1,"method":"tools/list"}
> 1 mark {"ended":{"stream":1,"bytes":40,"by":"client"}}
< 1 mark {"http":{"stream":1,"status":200,"headers":[{"name":"content-type","value":"text/event-stream; charset=utf-8"}]}}
< 1 mark {"sse":{"id":"0","retry":"3000"}}
< 1 {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}
< 1 {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
< 1 mark {"ended":{"stream":1,"by":"server"}}
> 2 mark {"http":{"stream":2,"method":"POST","target":"/mcp"}}
> 2 {"jsonrpc":"2.0","method":"notifications/initialized"}
> 2 mark {"ended":{"stream":2,"by":"client"}}
< 2 mark {"http":{"stream":2,"status":202}}
< 2 body Accepted
< 2 mark {"ended":{"stream":2,"by":"server"}}
> 3 mark {"http":{"stream":3,"method":"GET","target":"/mcp"}}
> 3 mark {"ended":{"stream":3,"by":"client"}}
< 3 mark {"http":{"stream":3,"status":405,"headers":[{"name":"Allow","value":"POST, DELETE"},{"name":"Content-Type","value":"text/plain"}]}}
< 3 body no
< 3 mark {"ended":{"stream":3,"by":"server","error":"unexpected EOF"}}
> 4 mark {"http":{"stream":4,"method":"GET","target":"/ws"}}
< 4 mark {"http":{"stream":4,"status":101,"headers":[{"name":"Upgrade","value":"websocket"}]}}
> 4 {"jsonrpc":"2.0","id":2,"method":"ping"}
< 4 {"jsonrpc":"2.0","id":2,"result":{}}
< 4 again {"jsonrpc":"2.0","id":2,"result":{}}
> 4 mark {"close":{"code":1000,"reason":"bye"}}
< 4 mark {"close":{"code":1005}}
< 4 mark {"framing":4100}
< 4 mark {"ended":{"stream":4,"by":"acptap"}}
> 5 mark {"sse":{"event":"endpoint","data":"/m?s=1","cut":true}}
> 6 mark {"http":{"stream":6,"method":"POST","target":"/acp","guessed":true}}
> 6 {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
< 6 mark {"http":{"stream":6,"status":202}}
< 6 mark {"ended":{"stream":6,"by":"client","error":"the client left"}}
> 7 mark {"http":{"stream":7,"method":"POST","target":"/acp","guessed":true}}
> 7 {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
> 7 mark {"ended":{"stream":7,"by":"client","trailers":[{"name":"X-Sum","length":4},{"name":"Server","value":"a\u001b"}]}}
< 0 mark {"closed":"idle"}
`

func streamFrames(t *testing.T) (frames []dialect.Frame) {
	t.Helper()
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	for line := range strings.Lines(strings.TrimSpace(streamTape)) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		f := dialect.Frame{Frame: wire.Frame{Seq: uint64(len(frames) + 1), At: time.Duration(len(frames)) * time.Millisecond}}
		if part[0] == "<" {
			f.Dir = wire.AgentToClient
		}
		f.Stream = uint64(part[1][0] - '0')
		raw, mark := strings.CutPrefix(part[2], "mark ")
		raw, body := strings.CutPrefix(raw, "body ")
		raw, again := strings.CutPrefix(raw, "again ")
		f.Raw, f.Size, f.Redelivered = []byte(raw), int64(len(raw)), again
		e := wire.Scan(f.Raw)
		switch f.Kind = e.Kind; {
		case mark:
			f.Kind = wire.Mark
		case body:
			f.Kind = wire.Body
		default:
			f.Annotation, _ = tracker.Observe(&f.Frame, e)
		}
		frames = append(frames, f)
	}
	return frames
}

// The line of a frame tells of its exchange, as most are; the others have lines.
func TestExchanges(t *testing.T) {
	got := write(t, &frametext.Lines{Fold: true}, streamFrames(t))
	want := `
    2    0.001  → request   tools/list                    POST 1
    5    0.004  ─ mark                                  event · id 0 · retry 3000 ms
    6    0.005  ← notif     notifications/progress      1  POST 1 → 200 sse
    7    0.006  ← response  tools/list                  0 tools  5 ms
   10    0.009  → notif     notifications/initialized     POST 2
   15    0.014  ─ mark                                  GET 3 /mcp
   17    0.016  ─ mark                                  3 → 405 text/plain · allow POST, DELETE
   18    0.017  ← body                                  no  GET 3 → 405 text/plain
   19    0.018  ─ mark                                  response 3 ended by server: unexpected EOF
   20    0.019  ─ mark                                  GET 4 /ws
   21    0.020  ─ mark                                  4 → 101
   22    0.021  → request   ping                        
   23    0.022  ← response  ping                        ok  1 ms
   24    0.023  ← response                              ok  sent again
   25    0.024  ─ mark                                  closed by client: 1000, normal: bye
   26    0.025  ─ mark                                  closed by server: 1005, no code
   27    0.026  ─ mark                                  4,100 bytes without a message, such as comments and pings
   28    0.027  ─ mark                                  response 4 ended by acptap
   29    0.028  ─ mark                                  event cut off endpoint: /m?s=1
   30    0.029  ─ mark                                  POST 6 /acp · no id: guessed to be of this connection
   31    0.030  → notif     session/cancel              s  POST 6
   35    0.034  → notif     session/cancel              s  POST 7
   36    0.035  ─ mark                                  request 7 ended by client · trailer x-sum · trailer server a␛
   37    0.036  ─ mark                                  connection ended: idle
`
	if want = strings.ReplaceAll(want[1:], "                        \n", "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if all := write(t, &frametext.Lines{}, streamFrames(t)); strings.Count(all, "\n") != len(streamFrames(t)) {
		t.Errorf("not folded: got\n%s", all)
	}
}

func TestStreamJSON(t *testing.T) {
	f := dialect.Frame{Frame: wire.Frame{Seq: 1, Kind: wire.Request, Stream: 3, Lead: []byte("id: 1\ndata: "), Redelivered: true, Raw: []byte("{}"), Size: 2}}
	for _, tt := range []struct{ lead, want string }{
		{"id: 1\ndata: ", `"stream":3,"lead":"id: 1\ndata: ","redelivered":true,`},
		{"\x81\x02", `"stream":3,"lead":{"base64":"gQI="},"redelivered":true,`},
		{"", `"stream":3,"redelivered":true,`},
	} {
		f.Lead = []byte(tt.lead)
		got, err := frametext.JSON(&filter.Subject{Frame: &f}, time.Time{})
		if err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%q: got %s, %v, want %s in it", tt.lead, got, err, tt.want)
		}
	}
}
