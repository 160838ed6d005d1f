// Package conformtest turns the examples of rules into frames.
package conformtest

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Bad reports whether the example breaks its rule.
func Bad(x conform.Example) bool { return strings.HasPrefix(x.Name, "bad") }

// Frames reads the lines of an example. They are
//
//	> {"method":…}       the client sends a message; jsonrpc is added
//	< {"id":…}           the agent sends one
//	> raw "\xff"         a line that is a Go string, as it is
//	> large 70000        a notification of so many bytes
//	> mark {"eof":true}  an event on the tape
//	> injected {…}       acptap made it; withheld, rewritten: likewise
//	+ 300ms              so much later; each line is 1 ms later than the one before
//	> #2 {"method":…}    a message on a stream of HTTP
//	> #2 POST /mcp; …    the head of a request on it, with its headers
//	< #2 200; …          the head of the response
//	< #2 body Accepted   a body that is no JSON by its head
//	< #2 end             the end of the response
//	= v1                 a beginning that is in order: v1, v2-early, v2, mcp REVISION, mcp-modern;
//	                     over HTTP, on the streams 1 and 2, http REVISION, http-modern
//	= session            session/new, answered with the id s1
//	resend "s1" 60000 12 so many bytes of output of that session's tool call c1, in so many
//	                     updates of which each has all so far
//
// Frames are what a tape has, with what dialect says of them.
func Frames(x conform.Example) ([]dialect.Frame, error) {
	p := player{tracker: dialect.NewTracker(dialect.AnyProtocol)}
	for i, line := range strings.Split(strings.TrimSuffix(x.Text, "\n"), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", x.Name, i+1, err)
		}
	}
	return p.frames, nil
}

// A player makes frames of lines.
type player struct {
	tracker *dialect.Tracker
	frames  []dialect.Frame
	now     time.Duration
}

func (p *player) line(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "":
		return nil
	case ">", "<":
		return p.frame(verb, rest)
	case "+":
		d, err := time.ParseDuration(rest)
		p.now += d
		return err
	case "=":
		return p.macro(rest)
	case "resend":
		return p.resend(rest)
	}
	return fmt.Errorf("%q begins with none of > < + =", line)
}

// beginnings are what = stands for, as txtar.
//
//go:embed beginnings.txt
var beginnings []byte

func (p *player) macro(name string) error {
	name, revision, _ := strings.Cut(name, " ")
	all := txtar.Parse(beginnings).Files
	i := slices.IndexFunc(all, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("no beginning is called %s", name)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(all[i].Data), "REVISION", revision), "\n") {
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

// resend makes the updates of a tool call whose output grows.
func (p *player) resend(what string) error {
	var session string
	var size, updates int
	if _, err := fmt.Sscanf(what, "%q %d %d", &session, &size, &updates); err != nil {
		return err
	}
	for i := range updates {
		const update = `{"method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":%q}}]}}}`
		if err := p.frame("<", fmt.Sprintf(update, session, strings.Repeat("x", size*(i+1)/updates))); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) frame(verb, line string) error {
	p.now += time.Millisecond
	f := wire.Frame{Seq: uint64(len(p.frames) + 1), At: p.now}
	if verb == "<" {
		f.Dir = wire.AgentToClient
	}
	if after, ok := strings.CutPrefix(line, "#"); ok {
		var err error
		if line, err = p.onStream(&f, after); err != nil {
			return err
		}
	}
	switch word, rest, _ := strings.Cut(line, " "); {
	case f.Kind == wire.Mark:
	case word == "mark":
		f.Kind, line = wire.Mark, rest
	case word == "stderr":
		f.Kind, f.Dir, line = wire.Stderr, wire.AgentStderr, rest
	case word == "large":
		size, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		const message = `{"jsonrpc":"2.0","method":"_x/y","params":{"text":""}}`
		f.Raw = []byte(strings.Replace(message, `""`, strconv.Quote(strings.Repeat("x", size-len(message))), 1))
	case word == "body":
		f.Kind, f.Raw = wire.Body, []byte(rest)
	case word == "raw":
		text, err := strconv.Unquote(rest)
		if err != nil {
			return err
		}
		f.Raw = []byte(text)
	case f.Origin.UnmarshalText([]byte(word)) == nil:
		line = rest
	}
	if f.Raw == nil {
		f.Raw = []byte(line)
		if after, ok := strings.CutPrefix(line, `{"`); ok && f.Kind != wire.Mark {
			f.Raw = []byte(`{"jsonrpc":"2.0","` + after)
		}
	}
	f.Size = int64(len(f.Raw))
	var e wire.Envelope
	if f.Kind != wire.Mark && f.Kind != wire.Stderr && f.Kind != wire.Body {
		e = wire.Scan(f.Raw)
		f.Kind = e.Kind
	}
	a, _ := p.tracker.Observe(&f, e)
	f.Failed = dialect.Failed(e, &a)
	p.frames = append(p.frames, dialect.Frame{Frame: f, Annotation: a})
	return nil
}

// onStream takes what stands behind the # of a line, and returns the message, or a mark
// as JSON.
func (p *player) onStream(f *wire.Frame, line string) (rest string, err error) {
	text, rest, _ := strings.Cut(line, " ")
	if f.Stream, err = strconv.ParseUint(text, 10, 64); err != nil {
		return "", err
	}
	if word, head, _ := strings.Cut(rest, " "); f.Origin.UnmarshalText([]byte(word)) == nil {
		rest = head
	}
	if rest != "end" && (rest == "" || !strings.ContainsAny(rest[:1], "GPD12345")) {
		return rest, nil
	}
	f.Kind = wire.Mark
	if rest == "end" {
		end := wire.StreamEnd{Stream: f.Stream, By: wire.ByClient}
		if f.Dir == wire.AgentToClient {
			end.By = wire.ByServer
		}
		for i := range p.frames {
			if x := &p.frames[i]; x.Stream == f.Stream && x.Dir == f.Dir && x.Kind != wire.Mark {
				end.Bytes += x.Size
			}
		}
		return string(wire.Marked{End: &end}.JSON()), nil
	}
	fields := strings.Split(rest, "; ")
	head := wire.HTTP{Stream: f.Stream, Origin: f.Origin, Protocol: "HTTP/1.1"}
	if f.Dir == wire.ClientToAgent {
		head.Method, head.Target, _ = strings.Cut(fields[0], " ")
	} else if head.Status, err = strconv.Atoi(fields[0]); err != nil {
		return "", err
	}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, ": ")
		head.Headers = append(head.Headers, wire.Header{Name: name, Value: value})
	}
	return string(wire.Marked{HTTP: &head}.JSON()), nil
}
