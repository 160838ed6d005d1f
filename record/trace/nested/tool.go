package nested

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A tool is a tool call of the agent with everything that may identify its call to a server.
// It keeps values that the agent has since replaced, such as its first title.
type tool struct {
	*trace.Entity
	start time.Time // of the tape that it is on
	turn  *trace.Turn

	names     [][]string // words of texts that may contain the names of server and tool
	claimed   []string   // words of the names of server and tool, if one of these texts states them unambiguously
	server    string     // from its rawInput, with tool
	tool      string
	arguments []digest

	calls []Joined
	span
}

// A span is when a tool call was open, as Unix times in ns, because spans of two tapes are
// often compared.
type span struct {
	from  int64 // the earliest time at which its calls can have begun: the beginning of its turn
	began int64
	end   int64 // of its last update, or else of its turn; math.MaxInt64 if more may follow
	over  bool  // its last update has come
}

// maxTraits limits the names, and arguments, kept for a tool call.
const maxTraits = 16

func newTool(e *trace.Entity, start time.Time, turn *trace.Turn) *tool {
	t := &tool{Entity: e, start: start, turn: turn}
	t.called(e.ToolCall.ID)
	return t
}

// measure updates the span from what is now known.
func (t *tool) measure() {
	start, turn := t.start.UnixNano(), t.turn
	t.span = span{from: start, began: start + int64(t.Began), end: math.MaxInt64, over: t.ToolCall.Finished()}
	if turn != nil {
		t.from = start + int64(turn.Began)
	}
	switch {
	case t.over:
		t.end = start + int64(t.Ended)
	case turn != nil && !turn.Open():
		t.end = start + int64(max(t.Ended, turn.Ended))
	}
}

// take applies an update of the tool call, or of a permission request about it.
func (t *tool) take(u wire.Value) {
	for _, key := range []string{"name", "title"} {
		t.called(u.Get(key).Text())
	}
	for _, text := range texts(nil, u.Get("_meta"), maxMeta) {
		t.called(text)
	}
	input := u.Get("rawInput")
	if server, name := input.Get("server").Text(), input.Get("tool").Text(); server != "" && name != "" {
		t.server, t.tool = strings.Clone(server), strings.Clone(name)
	}
	t.given(input)
	input.ForEach(func(_, v wire.Value) bool {
		t.given(v)
		return len(t.arguments) < maxTraits
	})
	for _, text := range []string{u.Get("title").Text(), firstText(u.Get("content"))} { // of a permission request
		if strings.HasPrefix(text, "{") && wire.IsJSON([]byte(text)) {
			t.given(wire.ValueOf(text))
		}
	}
}

// given records a value that may be the arguments.
func (t *tool) given(v wire.Value) {
	if d := digestOf(v); d != (digest{}) && !slices.Contains(t.arguments, d) && len(t.arguments) < maxTraits {
		t.arguments = append(t.arguments, d)
	}
}

// called records a text that may contain the names of server and tool.
func (t *tool) called(text string) {
	if text == "" || len(text) > maxMetaText {
		return
	}
	list := words(text)
	if slices.ContainsFunc(t.names, func(known []string) bool { return slices.Equal(known, list) }) {
		return
	}
	if claim := claimIn(text); claim != nil {
		t.claimed = claim
	}
	if len(t.names) == maxTraits { // keep the first, the id
		t.names = slices.Delete(t.names, 1, 2)
	}
	t.names = append(t.names, list)
}

// isCalled reports whether the words of names occur as a sequence, in this order or reversed,
// in a name of the tool call.
func (t *tool) isCalled(names ...[]string) bool {
	joined := slices.Concat(names...)
	slices.Reverse(names)
	reversed := slices.Concat(names...)
	return slices.ContainsFunc(t.names, func(text []string) bool { return index(text, joined) >= 0 || index(text, reversed) >= 0 })
}

// beginsWith reports whether a name of the tool call begins with the words of name.
func (t *tool) beginsWith(name []string) bool {
	return slices.ContainsFunc(t.names, func(text []string) bool { return index(text, name) == 0 })
}

// words splits a text, in lower case, at everything but letters and digits.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// maxClaim is the length above which agents shorten names, because models limit them. A longer
// name is not taken as a claim.
const maxClaim = 56

// claimIn returns the words of the names of server and tool if text has an unmistakable form,
// otherwise nil. It may be unclear which words name the server.
func claimIn(text string) []string {
	server, name, ok := mcpName(text)
	if !ok || len(text) > maxClaim {
		return nil
	}
	return append(words(server), words(name)...)
}

// mcpName returns the names of server and tool if text has one of the forms in which agents
// name the tools of servers: mcp__SERVER__TOOL (Claude Code, Qwen Code), mcp.SERVER.TOOL and
// Tool: SERVER/TOOL (Codex), TOOL (SERVER MCP Server) (Gemini CLI).
func mcpName(text string) (server, tool string, ok bool) {
	if rest, found := strings.CutPrefix(text, "mcp__"); found {
		server, tool, ok = strings.Cut(rest, "__")
	} else if rest, found := strings.CutPrefix(text, "mcp."); found {
		server, tool, ok = strings.Cut(rest, ".")
	} else if rest, found := strings.CutPrefix(text, "Tool: "); found {
		server, tool, ok = strings.Cut(rest, "/")
	} else if before, _, found := strings.Cut(text, " MCP Server)"); found {
		tool, server, ok = strings.Cut(before, " (")
	}
	if !ok || server == "" || tool == "" || strings.ContainsAny(server+tool, " \n") {
		return "", "", false
	}
	return server, tool, true
}
