package inspect

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// capabilities tells what both sides said of themselves, as negotiated on the
// tape, and how often what they offer was used. read returns a frame.
func (s *story) capabilities(read func(seq uint64) (dialect.Frame, error)) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []line
	for _, call := range s.trace.Calls {
		m, ok := dialect.Lookup(dialect.AnyProtocol, call.Method)
		if !ok || m.Effect != dialect.Initializes {
			continue
		}
		asked, answered := params(read, call.Request), params(read, call.Response)
		lines = append(lines, s.side("Client", "c", asked, call.Request)...)
		lines = append(lines, line{})
		if call.Open() {
			lines = append(lines, line{spans: []span{{yellow, "The agent has not answered."}}, seq: call.Request})
		} else {
			lines = append(lines, s.side("Agent", "a", answered, call.Response)...)
		}
		lines = append(lines, line{})
	}
	if len(lines) == 0 {
		text := "Neither side has said what it can do: there is no initialize on this tape."
		if !s.ended && s.last == 0 {
			text = "reading…"
		}
		return []line{{spans: []span{{dim, text}}}}
	}
	return lines
}

// params returns the params or the result of a frame; nothing if it cannot be
// read.
func params(read func(uint64) (dialect.Frame, error), seq uint64) gjson.Result {
	f, err := read(seq)
	if err != nil {
		return gjson.Result{}
	}
	e := wire.Scan(f.Raw)
	if f.Kind == wire.Unchecked {
		e = wire.ScanPrefix(f.Raw)
	}
	if e.Params != nil {
		return parse(&f, e.Params)
	}
	return parse(&f, e.Result)
}

// side tells of one side. letter is what stands before its capabilities in
// dialect.Method.Gate.
func (s *story) side(who, letter string, v gjson.Result, seq uint64) []line {
	called := ""
	for _, key := range []string{"info", "clientInfo", "agentInfo", "serverInfo"} {
		if i := v.Get(key); i.IsObject() {
			called = words(first(i, "title", "name"), text(i.Get("version")))
			break
		}
	}
	lines := []line{{spans: []span{{bold, words(who, called)}, {dim, "  " + before("protocol", text(v.Get("protocolVersion")))}}, seq: seq}}
	for _, key := range []string{"capabilities", "clientCapabilities", "agentCapabilities"} {
		if caps := v.Get(key); caps.IsObject() {
			return append(lines, s.offers(letter, "", caps, seq, 1)...)
		}
	}
	return append(lines, line{spans: []span{{dim, "  offers nothing"}}, seq: seq})
}

// deepestOffer is how deep capabilities are shown: as deep as those go that are
// specified, and some more.
const deepestOffer = 8

// offers lists the members of capabilities, with the methods that depend on
// them.
func (s *story) offers(letter, path string, v gjson.Result, seq uint64, depth int) []line {
	var lines []line
	v.ForEach(func(key, value gjson.Result) bool {
		at := strings.TrimPrefix(path+"."+key.Str, ".")
		row := []span{{plain, pad(strings.Repeat("  ", depth)+piece(key.Str), 32)}}
		switch {
		case value.Type == gjson.False || value.Type == gjson.Null:
			row = append(row, span{dim, "no"})
		case value.Type == gjson.True || value.IsObject():
			row = append(row, span{green, "yes"})
		default:
			row = append(row, span{plain, text(value)})
		}
		row = append(row, s.uses(letter, at)...)
		lines = append(lines, line{spans: row, seq: seq})
		if value.IsObject() && key.Str != "_meta" && depth < deepestOffer {
			lines = append(lines, s.offers(letter, at, value, seq, depth+1)...)
		}
		return true
	})
	return lines
}

// uses tells which methods depend on a capability, and how many frames have
// them.
func (s *story) uses(letter, path string) []span {
	var row []span
	for _, m := range dialect.Methods() {
		gates, ok := strings.CutPrefix(m.Gate, letter+": ")
		if !ok {
			continue
		}
		for gate := range strings.SplitSeq(gates, ", ") {
			gate, _, _ = strings.Cut(gate, " (")
			c := s.tally[m.Name]
			if gate != path || c == nil {
				continue
			}
			row = append(row, span{cyan, "  " + m.Name}, span{dim, fmt.Sprintf(" ×%s", grouped(int64(c.frames)))})
			break
		}
	}
	return row
}
