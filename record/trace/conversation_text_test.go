package trace_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record/trace"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

func golden(tb testing.TB, name string, got []byte) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		tb.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// A conversation of each version with all that there is.
var (
	richV1 = v1 + prompt("2", `Fix the failing test, please. It is in the directory that I have told you about.\n\nThanks!`) +
		thought("The user wants ") + thought("a fix.") +
		update(`"sessionUpdate":"plan","entries":[{"content":"Read the test, all of it, from the first to the last of its many lines","status":"completed","priority":"high"},{"content":"Fix it","status":"in_progress","priority":"high"},{"content":"Run it","status":"pending","priority":"low"}]`) +
		update(`"sessionUpdate":"tool_call","toolCallId":"r","title":"Read main_test.go","kind":"read","status":"completed","locations":[{"path":"/w/main_test.go","line":12}],"content":[{"type":"content","content":{"type":"text","text":"1\n2\n3\n4\n5\n6\n7\n8\n9"}}]`) +
		update(`"sessionUpdate":"tool_call","toolCallId":"e","title":"Edit main.go","kind":"edit","content":[{"type":"diff","path":"/w/main.go","oldText":"a\nb\nc\nd\n","newText":"a\nB\nc\nd\ne\n"}]`) +
		ask("0", `"toolCall":{"toolCallId":"e","status":"in_progress"}`) + answer("0", chose) +
		update(`"sessionUpdate":"tool_call_update","toolCallId":"e","status":"failed"`) + `
		< {"id":5,"method":"terminal/create","params":{"sessionId":"s","command":"go","args":["test","./..."]}}
		> {"id":5,"result":{"terminalId":"t"}}
		< {"id":6,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}
		> {"id":6,"result":{"output":"\u001b[32mok\u001b[0m\r\n\u001b]0;title\u0007FAIL","truncated":true,"exitStatus":{"exitCode":1}}}
		` +
		update(`"sessionUpdate":"tool_call","toolCallId":"x","title":"go test","kind":"execute","content":[{"type":"terminal","terminalId":"t"}]`) +
		said("All **done**, ") + said("日本語の長い文章がここにあります。折り返しはどこですか。") +
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"`+strings.Repeat("A", 64000)+`"}`) +
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","name":"main.go","uri":"file:///w/main.go"}`) +
		reply("2", ended) + prompt("3", "Stop") + cancel + reply("3", `{"stopReason":"cancelled"}`) +
		prompt("4", "Again") + `< {"id":4,"error":{"code":-32603,"message":"broken"}}` + "\n" +
		prompt("5", "And again")
	richV2 = v2 + prompt("2", "hi") + reply("2", "{}") +
		update(`"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hi"},{"type":"resource","resource":{"uri":"file:///w/a.txt","mimeType":"text/plain","text":"x\ny"}}]`) +
		update(`"sessionUpdate":"terminal_update","terminalId":"t","command":"sleep 9","exitStatus":{"signal":"TERM"}`) +
		update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Move","kind":"move","status":"cancelled","content":[{"type":"diff","changes":[{"operation":"move","oldPath":"/w/a","path":"/w/b"}],"patch":{"format":"git_patch","text":"@@ -1 +1 @@\n-a\n+b\n"}}]`) +
		update(`"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"# Plan\n* one"}`) +
		update(`"sessionUpdate":"plan_update","plan":{"type":"file","planId":"q","uri":"file:///plan.md"}`) +
		update(`"sessionUpdate":"plan_removed","planId":"q"`) +
		ask("1", `"title":"Run?","description":"It is safe.","subject":{"type":"command","command":"ls","cwd":"/w"}`) +
		update(`"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"text","text":"short"}]`) +
		update(`"sessionUpdate":"notice","severity":"warning","title":"Low on credit","description":"Soon none."`) +
		update(`"sessionUpdate":"weather","sun":true`) +
		saidAs("m", "bye") + idle("end_turn")
)

func TestText(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		lines []string
		form  trace.Text
	}{
		{"v1.txt", []string{richV1}, trace.Text{Width: 60, Lines: 4}},
		{"v1-color.txt", []string{richV1}, trace.Text{Lines: 4, Color: true, Starts: []time.Time{start}}},
		{"v2.txt", []string{richV2}, trace.Text{Width: 60}},
		{"tapes.txt", []string{v1 + prompt("2", "one") + reply("2", ended), load + reply("1", "{}") + prompt("2", "two")},
			trace.Text{Width: 60, Starts: []time.Time{start}}},
		{"narrow.txt", []string{richV1}, trace.Text{Width: 7, Lines: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := trace.WriteText(&b, &session(t, build(t, tt.lines...), "s").Conversation, tt.form); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, b.Bytes())
		})
	}
}

func TestExport(t *testing.T) {
	for name, lines := range map[string]string{"v1.json": strings.ReplaceAll(richV1, strings.Repeat("A", 64000), "AAAA"), "v2.json": richV2, "empty.json": v1} {
		got, err := json.MarshalIndent(&session(t, build(t, lines), "s").Conversation, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, append(got, '\n'))
	}
}

func TestTextOfWire(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"escape sequences", `a\u001b[1;31mred\u001b[0m \u001b[2J\u001b[\u009b`, "ared ␛[\ufffd"},
		{"other controls", `a\u0000\u0008\u007fb`, "a␀␈␡b"},
		{"direction of writing", `a\u202eb\u2066c`, "a\ufffdb\ufffdc"},
		{"line ends", `a\r\nb\rc\u2028d`, "a\nb\nc\nd"},
		{"tabs", `a\tb`, "a   b"},
		{"half a surrogate pair", `a\ud83db`, "a\ufffdb"},
		{"wrapped between words", "one two three four five six", "one two three four\nfive six"},
		{"a long word", "0123456789012345678901234", "0123456789012345678\n901234"},
		{"a word as large as a frame", strings.Repeat("0123456789012345678", 50_000), strings.Repeat("0123456789012345678\n", 49_999) + "0123456789012345678"},
		{"wide", "一二三四五六七八九十一二", "一二三四五六七八九\n十一二"},
		{"joined emoji", "👩‍👩‍👧 👩‍👩‍👧", "👩‍👩‍👧 👩‍👩‍👧"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			c := &session(t, build(t, v1+prompt("2", "hi")+said(tt.text)), "s").Conversation
			if err := trace.WriteText(&b, c, trace.Text{Width: 21}); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(b.String(), "agent  +0.060s\n")
			got, _, _ = strings.Cut(got, "\n\n")
			check(t, got, tt.want)
		})
	}
}

func TestTextDiff(t *testing.T) {
	numbers := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"
	for _, tt := range []struct{ name, old, new, want string }{
		{"same", "a\n", "a\n", " a"},
		{"new file", "", "a\nb\n", "+a\n+b"},
		{"emptied", "a\nb\n", "", "-a\n-b"},
		{"one line", numbers, strings.Replace(numbers, "8", "x", 1), " 5\n 6\n 7\n-8\n+x\n 9\n 10\n 11"},
		{"two places", numbers, strings.NewReplacer("2\n3", "2", "13\n", "x\n").Replace(numbers),
			" 1\n 2\n-3\n 4\n 5\n 6\n@@\n 10\n 11\n 12\n-13\n+x\n 14\n 15"},
		{"near places", "a\nb\nc\nd\n", "a\nB\nc\nD\n", " a\n-b\n+B\n c\n-d\n+D"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			c := &session(t, build(t, v1+prompt("2", "hi")+update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T","content":[{"type":"diff","path":"p","oldText":`+
				quote(tt.old)+`,"newText":`+quote(tt.new)+`}]`)), "s").Conversation
			if err := trace.WriteText(&b, c, trace.Text{}); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(b.String(), "diff p\n")
			got, _, _ = strings.Cut(got, "\n\n")
			if got, want := strings.ReplaceAll("\n"+got, "\n  ", "\n"), "\n"+tt.want; got != want {
				t.Errorf("got%s\nwant%s", got, want)
			}
		})
	}
}
