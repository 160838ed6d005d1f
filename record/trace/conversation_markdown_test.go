package trace_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

func TestWriteMarkdown(t *testing.T) {
	for _, tt := range []struct{ golden, lines string }{{"v1.md", richV1}, {"v2.md", richV2}} {
		var out bytes.Buffer
		if err := trace.WriteMarkdown(&out, &session(t, build(t, tt.lines), "s").Conversation, trace.Text{Lines: 200}); err != nil {
			t.Fatal(err)
		}
		golden(t, tt.golden, out.Bytes())
	}
}

// What the wire brought names nobody, loads nothing, contains no HTML, and ends no block but
// its own.
func TestMarkdownIsHarmless(t *testing.T) {
	lines := v1 + prompt("2", `@alice </details> ![x](https://e.example/a.png)`) +
		said("Hi @bob, see `<b> @c` and <img src=x>.\\n```go\\n<-ch // @dave\\n````\\n~~~\\nopen") +
		update(`"sessionUpdate":"tool_call","toolCallId":"r","title":"a `+"``"+` b\n* c","kind":"re*d","status":"completed","content":[{"type":"content","content":{"type":"text","text":"`+"```"+`\n</details>"}}]`) +
		reply("2", ended)
	var out bytes.Buffer
	if err := trace.WriteMarkdown(&out, &session(t, build(t, lines), "s").Conversation, trace.Text{}); err != nil {
		t.Fatal(err)
	}
	want := "\n### Turn 1: done, 30 ms\n" +
		"\n> @<!-- -->alice &lt;/details> !<!-- -->[x](https://e.example/a.png)\n" +
		"\nHi @<!-- -->bob, see `<b> @c` and &lt;img src=x>.\n```go\n<-ch // @dave\n````\n~~~\nopen\n~~~\n" +
		"\n- **re\\*d** ``` a `` b ↵ * c ``` · completed\n" +
		"\n  ````text\n  ```\n  </details>\n  ````\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// One turn is written without what belongs to others.
func TestOnly(t *testing.T) {
	c := &session(t, build(t, v1+prompt("2", "one")+said("first")+reply("2", ended)+prompt("3", "two")+said("second")+reply("3", ended)+prompt("4", "three")), "s").Conversation
	part, ok := c.Only(2)
	if !ok {
		t.Fatal("no turn 2")
	}
	var text, markdown bytes.Buffer
	if err := trace.WriteText(&text, part, trace.Text{}); err != nil {
		t.Fatal(err)
	}
	if err := trace.WriteMarkdown(&markdown, part, trace.Text{}); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text.String(), markdown.String()} {
		if !strings.Contains(out, "two") || !strings.Contains(out, "second") || strings.Contains(out, "first") || strings.Contains(out, "three") || !strings.Contains(strings.ToLower(out), "turn 2: done") {
			t.Errorf("got\n%s", out)
		}
	}
	if _, ok := c.Only(4); ok {
		t.Error("there is a turn 4")
	}
}
