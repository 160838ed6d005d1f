package replaytest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Remote takes the place of an ACP agent on the stdio of a client and connects to the agent
// at a URL: over a WebSocket if the URL begins with ws, otherwise over HTTP. It returns
// when stdin has ended and the agent has gone.
func Remote(t testing.TB, url string, stdin io.Reader, stdout io.Writer) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &lineWriter{w: stdout}
	if strings.HasPrefix(url, "ws") {
		overSocket(ctx, t, url, stdin, out)
		return
	}
	r := &remote{t: t, url: url, out: out, open: make(map[string]chan struct{}), asked: make(map[string]string)}
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		r.say(ctx, bytes.Clone(lines.Bytes()))
	}
	cancel() // the streams, as clients do
	r.streams.Wait()
	r.ask(t.Context(), http.MethodDelete, "", nil).Body.Close()
}

// A lineWriter writes lines of several goroutines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) line(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(bytes.Clone(p), '\n')) // fails if the client has gone
}

func overSocket(ctx context.Context, t testing.TB, url string, stdin io.Reader, out *lineWriter) {
	conn, res, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		t.Errorf("dialling %s: %v", url, err)
		return
	}
	if res.Header.Get("Acp-Connection-Id") == "" {
		t.Error("the WebSocket has no Acp-Connection-Id")
	}
	conn.SetReadLimit(-1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			_, p, err := conn.Read(ctx)
			if err != nil {
				return
			}
			out.line(p)
		}
	}()
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if err := conn.Write(ctx, websocket.MessageText, lines.Bytes()); err != nil {
			t.Errorf("writing: %v", err)
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
	<-read
}

// A remote is an ACP client over HTTP, as the RFD Streamable HTTP & WebSocket Transport
// has it.
type remote struct {
	t   testing.TB
	url string
	out *lineWriter

	connection string // its id; set by initialize, before there are streams
	streams    sync.WaitGroup

	mu    sync.Mutex
	open  map[string]chan struct{} // streams by session, closed once there is a response; guarded by mu
	asked map[string]string        // sessions by the ids of the agent's requests; guarded by mu
}

func (r *remote) ask(ctx context.Context, method, session string, body []byte) *http.Response {
	in, err := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	in.Header.Set("Content-Type", "application/json")
	in.Header.Set("Accept", "text/event-stream")
	for name, id := range map[string]string{"Acp-Connection-Id": r.connection, "Acp-Session-Id": session} {
		if id != "" {
			in.Header.Set(name, id)
		}
	}
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		if ctx.Err() == nil {
			r.t.Errorf("%s %s: %v", method, body, err)
		}
		return &http.Response{Body: http.NoBody}
	}
	return res
}

// say sends a line of the client.
func (r *remote) say(ctx context.Context, line []byte) {
	e := wire.Scan(line)
	if r.connection == "" {
		res := r.ask(ctx, http.MethodPost, "", line)
		body, err := io.ReadAll(res.Body)
		r.connection = res.Header.Get("Acp-Connection-Id")
		if err != nil || res.StatusCode != http.StatusOK || r.connection == "" {
			r.t.Errorf("initialize: %d %s, %v", res.StatusCode, body, err)
			return
		}
		<-r.listen(ctx, "")
		r.out.line(body)
		return
	}
	session := text(wire.Get(e.Params, "sessionId"))
	r.mu.Lock()
	if e.Kind == wire.Response {
		session = r.asked[string(e.ID)]
	}
	r.mu.Unlock()
	if session != "" {
		<-r.listen(ctx, session)
	}
	res := r.ask(ctx, http.MethodPost, session, line)
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusAccepted || len(body) > 0 {
		r.t.Errorf("%s: got %d %s, want 202", line, res.StatusCode, body)
	}
}

// listen opens the stream of a session, or of the connection. The channel is closed once it
// is open.
func (r *remote) listen(ctx context.Context, session string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if open := r.open[session]; open != nil {
		return open
	}
	open := make(chan struct{})
	r.open[session] = open
	r.streams.Go(func() {
		res := r.ask(ctx, http.MethodGet, session, nil)
		close(open)
		defer res.Body.Close()
		events := bufio.NewScanner(res.Body)
		events.Buffer(nil, 64<<20)
		for events.Scan() {
			if data, ok := bytes.CutPrefix(events.Bytes(), []byte("data: ")); ok {
				r.hear(ctx, session, data)
			}
		}
	})
	return open
}

// hear handles a message of the agent from a stream. It opens the streams of sessions that
// the message announces.
func (r *remote) hear(ctx context.Context, session string, data []byte) {
	e := wire.Scan(data)
	if e.Kind == wire.Request {
		r.mu.Lock()
		r.asked[string(e.ID)] = session
		r.mu.Unlock()
	}
	if made := text(wire.Get(e.Result, "sessionId")); made != "" {
		r.listen(ctx, made)
	}
	u := e.Params.Get("update")
	if child := dialect.Subagent(u.Get("sessionUpdate").Text(), wire.JSON(u.Raw())); child != "" {
		r.listen(ctx, child)
	}
	r.out.line(data)
}

func text(value []byte) string {
	s, _ := wire.Unquote(value)
	return string(s)
}
