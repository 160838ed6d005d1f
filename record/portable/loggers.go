package portable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// bodies are the members in which loggers keep a message, as JSON or as the text of its
// line. The first one present counts, so the closest to the bytes comes first.
var bodies = [...]string{"raw", "msg", "message", "payload", "frame", "text"}

// isLogger reports whether a file has lines with a time, a direction and a message:
//
//	{"ts":1706000000.123,"dir":"c2a","msg":{…}}                               acp-debug
//	{"ts":"2026-01-02T15:04:05.1Z","direction":"c2s","raw":{…}}               mcpsnoop
//	{"timestamp":1706000000123,"direction":"editor-to-agent","raw":"{…}"}     acp-devtools --log json
func isLogger(head []byte) bool {
	g := wire.ValueOf(firstLine(head))
	if !g.IsObject() || g.Get("acptap").Exists() || isMessage(g) || isTraceEvent(g) {
		return false
	}
	for _, name := range [...]string{"direction", "raw", "msg", "message", "payload"} { // the portable form has none of them
		if g.Get(name).Exists() {
			return true
		}
	}
	return false
}

func readLogger(f *file) error { return f.parseLines(loggerLines(f.begin), nil) }

func loggerLines(begin func(Head)) lineParser {
	first := true
	var start time.Time
	var last time.Duration
	return func(text []byte) (p Line, ok bool, err error) {
		if !json.Valid(text) {
			return p, false, errNoJSON
		}
		g := wire.ValueOf(text)
		_, when := either(g, "ts", "timestamp", "time")
		at, err := parseTime(when)
		if err != nil {
			return p, false, err
		}
		if start.IsZero() && !at.IsZero() {
			if start = at; at.Before(firstLog) {
				start = time.Unix(0, 0) // seconds since the log began
			}
		}
		_, whose := either(g, "direction", "dir")
		dir := whose.Text()
		meta := dir == "meta" // mcpsnoop begins with the command
		if first {
			first = false
			var s journal.Start
			if start.After(firstLog) {
				s.Time = start
			}
			if raw := g.Get("raw"); meta {
				s.Cwd = raw.Get("cwd").Text()
				for _, arg := range raw.Get("command").Array() {
					s.Command = append(s.Command, arg.Text())
				}
			}
			begin(Head{Start: s})
		}
		if meta {
			return p, false, nil
		}
		if !at.IsZero() {
			since, err := sinceStart(start, at)
			if err != nil {
				return p, false, err
			}
			last = max(last, since)
		}
		p.At, p.Untimed = last, at.IsZero()
		if p.Dir, err = parseDirection(dir); err != nil {
			return p, false, err
		}
		name, body := either(g, bodies[:]...)
		switch {
		case body.IsObject(), body.IsArray():
			p.Raw = bytes.Clone(wire.Get(text, name)) // as it was sent: a Value omits overridden members
		case body.IsString():
			p.Raw = []byte(strings.TrimSuffix(body.Text(), "\n"))
		default:
			return p, false, fmt.Errorf("no message; it is looked for in %q", bodies)
		}
		return p, true, nil
	}
}

// either returns the first member of g that is present and not null, and its name.
func either(g wire.Value, names ...string) (name string, v wire.Value) {
	for _, name := range names {
		if v := g.Get(name); !v.IsNull() {
			return name, v
		}
	}
	return "", wire.Value{}
}

// parseTime parses the time of another tool's line, as text or as a number. If there is
// none it returns the zero time.
func parseTime(v wire.Value) (time.Time, error) {
	switch {
	case v.IsNull():
		return time.Time{}, nil
	case v.IsString():
		// Python's isoformat omits an unknown zone.
		for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05"} {
			if t, err := time.Parse(layout, v.Text()); err == nil {
				return t.UTC(), nil
			}
		}
	case v.IsNumber():
		return instant(v.Float())
	}
	return time.Time{}, fmt.Errorf("%s is no time", v.Raw())
}

// firstLog is earlier than any log of these protocols, and long after the times in any
// log that counts from its own beginning.
var firstLog = time.Unix(1e8, 0)

// instant converts seconds, milliseconds, microseconds or nanoseconds since 1970: their
// magnitudes differ until the year 5138.
func instant(n float64) (time.Time, error) {
	if n < 0 || n >= 1e20 {
		return time.Time{}, fmt.Errorf("%v is no time", n)
	}
	micros := n * 1e6
	for micros >= 1e17 {
		micros /= 1e3
	}
	return time.UnixMicro(int64(math.Round(micros))).UTC(), nil
}

// sinceStart returns the time from the start of a tape to at. It fails if the portable form
// has no such time.
func sinceStart(start, at time.Time) (time.Duration, error) {
	d := max(0, at.Sub(start))
	if d > 1e9*time.Second {
		return 0, fmt.Errorf("%v is too long after the beginning, %v", at, start)
	}
	return d, nil
}

// parseDirection parses c2a, client-to-agent, clientToServer, "editor → agent" and similar
// forms. It refuses in and out, because they do not say whose.
func parseDirection(name string) (wire.Direction, error) {
	letters := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || c == '2' {
			return c
		}
		return -1
	}, strings.ToLower(name))
	switch letters {
	case "c2a", "c2s", "clienttoagent", "clienttoserver", "editortoagent", "clientagent", "clientserver", "editoragent":
		return wire.ClientToAgent, nil
	case "a2c", "s2c", "agenttoclient", "servertoclient", "agenttoeditor", "agentclient", "serverclient", "agenteditor":
		return wire.AgentToClient, nil
	case "err", "stderr", "agentstderr", "serverstderr":
		return wire.AgentStderr, nil
	}
	return 0, fmt.Errorf("%q is no direction; there are c2a, client-to-agent, a2c, agent-to-client, err and the like", name)
}
