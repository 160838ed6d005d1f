//go:build linux

package record_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// inPieces is a conversation in which an agent sends a key in pieces, mixed with other text.
func inPieces(key string, sizes ...int) string {
	var b strings.Builder
	update := func(update string) {
		fmt.Fprintf(&b, `{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}}`+"\n", update)
	}
	b.WriteString(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}}` + "\n")
	for _, n := range sizes {
		update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, key[:n]))
		update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"well, "}}`)
		key = key[n:]
	}
	update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, key+" it is."))
	b.WriteString(`{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}` + "\n")
	return b.String()
}

// What leaves the machine has no secret that an agent has said in pieces.
func TestRedactedInPieces(t *testing.T) {
	key := "sk-" + "ant-api03-" + strings.Repeat("aB3-", 8)
	for _, sizes := range [][]int{{20}, {3, 5}, {10, 1, 1, 20}} {
		tape, err := record.ReadPortable(strings.NewReader(inPieces(key, sizes...)), "file")
		if err != nil {
			t.Fatal(err)
		}
		var file strings.Builder
		if err := tape.Export(&file, false); err != nil {
			t.Fatal(err)
		}
		again, err := record.ReadPortable(strings.NewReader(file.String()), "file")
		if err != nil {
			t.Fatal(err)
		}
		want := inOnePiece(t, tape.Redacted())
		if got := inOnePiece(t, again.Frames(1)); got != want {
			t.Errorf("%v: the export says %q, the frames %q", sizes, got, want)
		}
		if said := strings.ReplaceAll(want, "[redacted]", ""); said != "sk-ant- it is." {
			t.Errorf("%v: they say %q", sizes, want)
		}
	}
}

// A secret may continue in frames that are recorded while others are read: it is still
// removed.
func TestRedactedWhileRecorded(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	key := "sk-" + "ant-api03-" + strings.Repeat("aB3-", 8)
	piece := func(text string) {
		j.Append(wire.AgentToClient, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", text))
	}
	piece("so " + key[:20])
	text := ""
	for f, err := range open(t, store, j.Tape()).Redacted() {
		if err != nil {
			t.Fatal(err)
		}
		piece(key[20:])
		text += wire.ValueAt(f.Raw, "params.update.content.text").Text()
	}
	if want := "so " + key[:20]; text != want { // it cannot be recognized as a secret yet
		t.Errorf("got %q, want %q", text, want)
	}
}

// inOnePiece returns the joined text of the agent.
func inOnePiece(t *testing.T, frames iter.Seq2[dialect.Frame, error]) (text string) {
	t.Helper()
	for f, err := range frames {
		if err != nil {
			t.Fatal(err)
		}
		if f.Update == "agent_message_chunk" {
			text += wire.ValueAt(f.Raw, "params.update.content.text").Text()
		}
	}
	return text
}
