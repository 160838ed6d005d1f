package otlp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/trace/spans"
)

// TestNoSecretInRequests: no request of any signal contains a part of a secret, whole or sent
// in two pieces; requests made of frames that are not redacted do.
func TestNoSecretInRequests(t *testing.T) {
	texts, gone := secretTexts(t)
	tape, err := record.ReadPortable(strings.NewReader(talkOf(texts)), "talk")
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range otlp.Signals {
		redacted := requestsOf(t, tape.Redacted(), signal)
		for text, at := range leaks(redacted, gone) {
			t.Errorf("%v: of %q is left %q", signal, text, redacted[max(0, at-80):min(at+80, len(redacted))])
		}
		if len(redacted) == 0 {
			t.Errorf("%v: there is no request", signal)
		}
		if n := len(leaks(requestsOf(t, tape.Frames(1), signal), gone)); signal != otlp.Metrics && n < len(texts) {
			t.Errorf("%v: only %d of %d secrets are in requests that are not redacted", signal, n, len(texts))
		}
	}
}

// part is how many bytes of a secret no other text has by chance.
const part = 12

// leaks returns the texts that parts in out are of, and where.
func leaks(out string, gone map[string]string) map[string]int {
	found := map[string]int{}
	for i := range len(out) - part {
		if text, ok := gone[out[i:i+part]]; ok {
			found[text] = i
		}
	}
	return found
}

// secretTexts returns the first text in which each rule of gitleaks found a secret, and the
// texts by the parts that redact removes from them.
func secretTexts(t *testing.T) (texts []string, gone map[string]string) {
	t.Helper()
	data, err := os.ReadFile("../../../../../record/redact/testdata/gitleaks/found.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	gone = map[string]string{}
	rules, kept := map[string]bool{}, redact.Placeholder+"-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----"+redact.Placeholder+"\n" // no secrets
	for line := range bytes.Lines(data) {
		var found struct{ Rule, Text string }
		if err := json.Unmarshal(line, &found); err != nil {
			t.Fatal(err)
		}
		letters := []rune(found.Text) // written backwards
		slices.Reverse(letters)
		text := string(letters)
		prompt := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"prompt":[{"type":"text","text":%s}]}}`, quote(text))
		out := wire.ValueAt(redact.Frame(wire.Request, []byte(prompt)), "params.prompt.0.text").Text()
		if out == text || rules[found.Rule] {
			continue
		}
		rules[found.Rule] = true
		kept += out + "\n"
		texts = append(texts, text)
		for i := range len(text) - part {
			gone[text[i:i+part]] = text
		}
	}
	for i := range len(kept) - part {
		delete(gone, kept[i:i+part])
	}
	left := slices.Collect(maps.Values(gone))
	return slices.DeleteFunc(texts, func(text string) bool { return !slices.Contains(left, text) }), gone
}

func quote(text string) string {
	q, _ := json.Marshal(text)
	return string(q)
}

// talkOf returns a tape with a turn for each secret: the user says it, the agent in two
// pieces, and a tool is called with it.
func talkOf(texts []string) string {
	var b strings.Builder
	at := 0.0
	add := func(dir, frame string, args ...any) {
		at += 0.1
		fmt.Fprintf(&b, `{"at":%.1f,"dir":%q,"frame":{"jsonrpc":"2.0",%s}}`+"\n", at, dir, fmt.Sprintf(frame, args...))
	}
	update := func(update string, args ...any) {
		add("a2c", `"method":"session/update","params":{"sessionId":"s","update":{%s}}`, fmt.Sprintf(update, args...))
	}
	b.WriteString(`{"acptap":1,"started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w","protocol":"acp"}` + "\n")
	add("c2a", `"id":"i","method":"initialize","params":{"protocolVersion":1}`)
	add("a2c", `"id":"i","result":{"protocolVersion":1}`)
	for i, text := range texts {
		half := len(text) / 2
		add("c2a", `"id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%s}]}`, i, quote(text))
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}`, quote(text[:half]))
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}`, quote(text[half:]))
		update(`"sessionUpdate":"tool_call","toolCallId":"c%d","title":%s,"kind":"execute","status":"completed","rawInput":{"note":%[2]s},"content":[{"type":"content","content":{"type":"text","text":%[2]s}}]`, i, quote(text))
		add("a2c", `"id":%d,"result":{"stopReason":"end_turn"}`, i)
	}
	return b.String()
}

// requestsOf returns the strings in all requests of a signal that frames make, with all that
// was said.
func requestsOf(t *testing.T, frames iter.Seq2[dialect.Frame, error], signal otlp.Signal) string {
	t.Helper()
	var out bytes.Buffer
	lines := otlp.Lines{W: &out, Encoder: encoder, Signals: []otlp.Signal{signal}}
	b := spans.Builder{Content: true, Logs: signal == otlp.Logs}
	b.Next(spans.Tape{ID: "t", Start: time.Unix(0, 0)})
	write := func(sets []spans.Set) {
		for _, set := range sets {
			if err := lines.Write(set); err != nil {
				t.Fatal(err)
			}
		}
	}
	for f, err := range frames {
		if err != nil {
			t.Fatal(err)
		}
		write(b.Add(&f))
		if r, ok := b.Record(&f); ok && signal == otlp.Logs {
			if err := lines.Record(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(b.End())
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	return textOf(t, out.Bytes())
}

// textOf returns the strings in lines of JSON, and in JSON that is in strings.
func textOf(t *testing.T, lines []byte) string {
	t.Helper()
	var b strings.Builder
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			var inner any
			if b.WriteString(v + "\x00"); strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
				add(inner)
			}
		case []any:
			for _, one := range v {
				add(one)
			}
		case map[string]any:
			for _, one := range v {
				add(one)
			}
		}
	}
	for line := range bytes.Lines(lines) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		add(v)
	}
	return b.String()
}
