package trace_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A script is a generated conversation: its traffic, and the outline of the
// state that it must end in.
type script struct {
	*rand.Rand
	lines   strings.Builder
	want    strings.Builder
	ids     bool // messages carry ids
	again   bool // ids are used again: of messages in the next turn, of tool calls as soon as all have ended
	version string
	n       int            // of what has been named
	used    map[string]int // ids, by their prefix
	pending []string       // updates that may come at any time before the turn ends, in order
}

func (s *script) name(prefix string) string {
	s.n++
	return fmt.Sprintf("%s%d", prefix, s.n)
}

// id makes an id of a thing.
func (s *script) id(prefix string) string {
	if !s.again {
		return s.name(prefix)
	}
	if prefix == "c" && len(s.pending) == 0 && s.IntN(2) == 0 {
		s.used[prefix] = 0
	}
	s.used[prefix]++
	return fmt.Sprint(prefix, s.used[prefix])
}

var words = []string{"one ", "two\n", "ünï ", "日本", "😀", `"quoted" `, `\back `, "", "tab\t", "e\u0301"}

func (s *script) text() string {
	var b strings.Builder
	b.WriteString(s.name("w")) // so that no two texts are the same
	for range s.IntN(20) {
		b.WriteString(words[s.IntN(len(words))])
	}
	return b.String()
}

// chunks divides text anywhere, also within the bytes of a JSON escape's pair.
func (s *script) chunks(text string) []string {
	var quoted []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := 1 + s.IntN(len(runes))
		quoted = append(quoted, quote(string(runes[:n])))
		runes = runes[n:]
	}
	for i, q := range quoted {
		if before, after, found := strings.Cut(q, "😀"); found && s.IntN(2) == 0 {
			quoted[i] = before + `\ud83d"`
			quoted = append(quoted[:i+1], append([]string{`"\ude00` + after}, quoted[i+1:]...)...)
			break
		}
	}
	return quoted
}

func quote(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

// some sends a part of what is pending, with updates that make nothing.
func (s *script) some() {
	for len(s.pending) > 0 && s.IntN(2) == 0 {
		s.lines.WriteString(s.pending[0])
		s.pending = s.pending[1:]
	}
	if s.IntN(4) == 0 {
		s.lines.WriteString(update(`"sessionUpdate":"usage_update","used":1,"size":2`))
	}
}

func (s *script) message(turn int, role string) {
	kind := map[string]string{"agent": "agent_message", "thought": "agent_thought"}[role]
	id, field := "", ""
	if s.ids {
		id = s.id("m")
		field = `"messageId":"` + id + `",`
	}
	text := s.text()
	if s.version == "v2" && s.IntN(3) == 0 {
		// What came before a whole message counts for nothing.
		s.lines.WriteString(update(`"sessionUpdate":"` + kind + `_chunk",` + field + `"content":{"type":"text","text":"draft"}`))
		s.some()
		s.lines.WriteString(update(`"sessionUpdate":"` + kind + `",` + field + `"content":[{"type":"text","text":` + quote(text) + `}]`))
	} else {
		for _, chunk := range s.chunks(text) {
			s.lines.WriteString(update(`"sessionUpdate":"` + kind + `_chunk",` + field + `"content":{"type":"text","text":` + chunk + `}`))
			s.some()
		}
	}
	fmt.Fprintf(&s.want, "%d %s", turn, role)
	if id != "" {
		fmt.Fprintf(&s.want, " (%s)", id)
	}
	fmt.Fprintf(&s.want, " %q\n", text)
}

func (s *script) tool(turn int) {
	id, title := s.id("c"), s.name("title")
	first := "tool_call_update"
	if s.version == "v1" {
		first = "tool_call"
	}
	s.lines.WriteString(update(`"sessionUpdate":"` + first + `","toolCallId":"` + id + `","title":"` + title + `","kind":"read","status":"pending","rawOutput":1`))
	patch := func(fields string) {
		s.pending = append(s.pending, update(`"sessionUpdate":"tool_call_update","toolCallId":"`+id+`",`+fields))
	}
	patch(`"status":"in_progress","content":[1,2]`)
	content, output := " 3", " out=1"
	patch(`"content":[3]`)
	if s.version != "v1" {
		s.pending = append(s.pending, update(`"sessionUpdate":"tool_call_content_chunk","toolCallId":"`+id+`","content":4`))
		content, output = " 3 4", ""
	}
	patch(`"status":"completed","rawOutput":null`)
	fmt.Fprintf(&s.want, "%d tool %s %q read completed%s%s\n", turn, id, title, content, output)
}

func (s *script) turn(number int) {
	s.used = map[string]int{}
	text := s.text()
	id := fmt.Sprint(number + 1)
	s.lines.WriteString(prompt(id, strings.Trim(quote(text), `"`)))
	user := s.name("u")
	report := update(`"sessionUpdate":"user_message","messageId":"` + user + `","content":[{"type":"text","text":` + quote(text) + `}]`)
	switch {
	case s.version == "v2":
		before := s.IntN(2) == 0
		if before {
			s.lines.WriteString(report)
		}
		s.lines.WriteString(reply(id, "{}"))
		if !before {
			s.lines.WriteString(report)
		}
		fmt.Fprintf(&s.want, "%d user (%s) %q\n", number, user, text)
	default:
		if s.version == "v1" && s.IntN(2) == 0 {
			for _, chunk := range s.chunks(text) {
				s.lines.WriteString(update(`"sessionUpdate":"user_message_chunk","content":{"type":"text","text":` + chunk + `}`))
			}
		}
		fmt.Fprintf(&s.want, "%d user %q\n", number, text)
	}
	last := ""
	for range s.IntN(8) {
		role := []string{"agent", "thought", "tool"}[s.IntN(3)]
		if role == "tool" {
			s.tool(number)
		} else if s.ids || role != last { // without ids, neighbours would be one message
			s.message(number, role)
		}
		last = role
	}
	s.lines.WriteString(strings.Join(s.pending, ""))
	s.pending = nil
	if s.version == "v2" {
		s.lines.WriteString(idle("end_turn"))
	} else {
		s.lines.WriteString(reply(id, ended))
	}
}

// Whatever the chunks and the order of the updates, a conversation is rebuilt.
func TestGenerated(t *testing.T) {
	for seed := range uint64(600) {
		s := script{Rand: rand.New(rand.NewPCG(seed, 0))}
		switch seed % 5 {
		case 0:
			s.version = "v1"
			s.lines.WriteString(v1)
		case 1:
			s.version, s.ids = "v1", true
			s.lines.WriteString(v1)
		case 2:
			s.version, s.ids = "v2-early", true
			s.lines.WriteString(v2early)
		case 3:
			s.version, s.ids = "v2", true
			s.lines.WriteString(v2)
		case 4:
			s.version, s.ids, s.again = "v1", true, true
			s.lines.WriteString(v1)
		}
		turns := 1 + s.IntN(4)
		for number := range turns {
			s.turn(number + 1)
		}
		for number := range turns {
			fmt.Fprintf(&s.want, "turn %d end_turn\n", number+1)
		}
		check(t, outline(&session(t, build(t, s.lines.String()), "s").Conversation), s.want.String())
		if t.Failed() {
			t.Fatalf("seed %d, %s", seed, s.version)
		}
	}
}
