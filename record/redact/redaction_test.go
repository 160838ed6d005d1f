package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

// A form is a way in which an agent sends text in pieces.
type form struct {
	name, update string // the update has %s for a string
	path         string // to that string
	base64       bool
}

var forms = []form{
	{name: "message", update: `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, path: "params.update.content.text"},
	{name: "thought with an id", update: `{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":%s}}`, path: "params.update.content.text"},
	{name: "tool call", update: `{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":%s}}}`, path: "params.update.content.content.text"},
	{name: "terminal", update: `{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":%s}`, path: "params.update.data", base64: true},
}

// frames are the frames of the tape under test.
type frames []dialect.Frame

func (all *frames) add(f dialect.Frame) *dialect.Frame {
	f.Seq, f.Size = uint64(len(*all)+1), int64(len(f.Raw))
	*all = append(*all, f)
	return &(*all)[len(*all)-1]
}

// piece adds a piece of text that an agent sends.
func (all *frames) piece(x form, session, text string) *dialect.Frame {
	if x.base64 {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	update := fmt.Sprintf(x.update, quote(text))
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update)
	return all.add(dialect.Frame{
		Frame:      wire.Frame{Kind: wire.Notification, Dir: wire.AgentToClient, Raw: []byte(raw)},
		Annotation: dialect.Annotation{Method: "session/update", Update: wire.ValueAt(update, "sessionUpdate").Text(), Session: session},
	})
}

// text returns the text of a piece.
func (x form) text(t *testing.T, f dialect.Frame) string {
	t.Helper()
	if !json.Valid(f.Raw) {
		t.Fatalf("it is no JSON any more: %s", f.Raw)
	}
	text := wire.ValueAt(f.Raw, x.path).Text()
	if !x.base64 {
		return text
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// redacted returns the frames without secrets.
func (all frames) redacted(t *testing.T) frames {
	t.Helper()
	r := redact.NewRedaction(nil)
	for i := range all {
		r.Read(&all[i])
	}
	out := make(frames, len(all))
	for i, f := range all {
		var err error
		if out[i], err = r.Frame(nil, f); err != nil {
			t.Fatal(err)
		}
		out[i].Size = int64(len(out[i].Raw)) // as one who reads the export has it
	}
	return out
}

// said returns the joined text of a session's pieces.
func (all frames) said(t *testing.T, x form, session string) string {
	var text strings.Builder
	for _, f := range all {
		if f.Session == session {
			text.WriteString(x.text(t, f))
		}
	}
	return text.String()
}

// once returns text without secrets as if it were one piece. Where a secret was in pieces, each
// has a placeholder; one counts.
func once(text string) string {
	for strings.Contains(text, redact.Placeholder+redact.Placeholder) {
		text = strings.ReplaceAll(text, redact.Placeholder+redact.Placeholder, redact.Placeholder)
	}
	return text
}

// A secret is found wherever the text is cut, and the text around it stays.
func TestSecretInPieces(t *testing.T) {
	texts := []string{
		"use " + anthropicKey[:7] + "«" + anthropicKey[7:] + "», and go on", "the " + githubToken[:4] + "«" + githubToken[4:] + "»", "a key: " + openaiKey[:3] + "«" + openaiKey[3:] + "»\nand more", "a token " + jwt[:3] + "«" + jwt[3:] + "» ends",
		"curl -H 'Authorization: Bearer «abcdefgh12345678ijkl»' https://h/", "export DB_PASSWORD=«hunter2hunter2»\n", "postgres://me:«geheim»@h/db is it", "password is \"«geheim»\" here",
		"-----BEGIN RSA PRIVATE KEY-----«" + pem[31:31+51] + "»-----END RSA PRIVATE KEY-----\n",
	}
	for _, x := range forms {
		t.Run(x.name, func(t *testing.T) {
			for _, marked := range texts {
				text, secrets := secretsIn(marked)
				for cut := 1; cut < len(text); cut++ {
					checkPieces(t, x, []string{text[:cut], text[cut:]}, secrets)
				}
				for n := range 40 {
					checkPieces(t, x, pieces(text, 3+n%3), secrets)
				}
				checkPieces(t, x, strings.Split(text, ""), secrets)
			}
		})
	}
}

// pieces cuts a text somewhere.
func pieces(text string, n int) (all []string) {
	for ; n > 1 && len(text) > 1; n-- {
		cut := 1 + rand.IntN(len(text)-1)
		all, text = append(all, text[:cut]), text[cut:]
	}
	return append(all, text)
}

func checkPieces(t *testing.T, x form, pieces, secrets []string) {
	t.Helper()
	var all frames
	for _, p := range pieces {
		all.piece(x, "s", p)
		all.piece(x, "other", "and more")
	}
	out := all.redacted(t)
	said, whole := out.said(t, x, "s"), all.said(t, x, "s")
	for _, secret := range secrets {
		if strings.Contains(said, secret) {
			t.Fatalf("%q say %q", pieces, said)
		}
		whole = strings.Replace(whole, secret, redact.Placeholder, 1)
	}
	if once(said) != whole {
		t.Fatalf("%q say %q, want %q", pieces, once(said), whole)
	}
	if again := out.redacted(t).said(t, x, "s"); again != said {
		t.Fatalf("%q say %q, and redacted again %q", pieces, said, again)
	}
	if other := out.said(t, x, "other"); other != strings.Repeat("and more", len(pieces)) {
		t.Fatalf("another session says %q", other)
	}
}

// Text in pieces is redacted as it is whole, wherever it is cut: no secret more is left,
// and no code more is taken for one.
func TestCorpusInPieces(t *testing.T) {
	x := forms[0]
	for _, marked := range slices.Concat(secretTexts, openTexts, classTexts()) {
		text, _ := secretsIn(marked)
		if json.Valid([]byte(text)) {
			continue // JSON is searched by the names of its members
		}
		want := wire.ValueAt(redacted(wire.ClientToAgent, []byte(prompt(text))), "params.prompt.0.text").Text()
		for cut := 1; cut < len(text); cut++ {
			if !utf8.RuneStart(text[cut]) {
				continue // JSON has whole characters
			}
			var all frames
			all.piece(x, "s", text[:cut])
			all.piece(x, "s", text[cut:])
			if said := once(all.redacted(t).said(t, x, "s")); said != want {
				t.Errorf("%q, %q say %q, want %q", text[:cut], text[cut:], said, want)
			}
		}
	}
}

// A secret is found anywhere in a long text, and pieces of the same stream never reveal it.
func TestSecretFarBehind(t *testing.T) {
	x := forms[0]
	for _, size := range []int{7, 100, 5000} {
		var all frames
		var text strings.Builder
		for i := 0; text.Len() < 150<<10; i++ {
			if i%400 == 399 {
				text.WriteString(anthropicKey)
			}
			text.WriteString(" words and words\n")
		}
		for rest := text.String(); rest != ""; {
			n := min(size, len(rest))
			all.piece(x, "s", rest[:n])
			rest = rest[n:]
		}
		want := strings.ReplaceAll(text.String(), anthropicKey[7:], redact.Placeholder)
		if said := once(all.redacted(t).said(t, x, "s")); said != want {
			t.Errorf("pieces of %d bytes: %d keys are left, %d bytes of text, want %d", size, strings.Count(said, anthropicKey), len(said), len(want))
		}
	}
}

// If acptap has changed the agent's text, the pieces at neither end reveal a secret.
func TestSecretOfEitherEnd(t *testing.T) {
	x := forms[0]
	var all frames
	for _, p := range []string{anthropicKey[:12], anthropicKey[12:20], anthropicKey[20:] + "."} {
		all.piece(x, "s", p).Origin = wire.Withheld
		all.piece(x, "s", p).Origin = wire.Rewritten
	}
	if said := once(all.redacted(t).said(t, x, "s")); said != "sk-ant-[redacted]sk-ant-[redacted].." && strings.Contains(said, anthropicKey[20:]) {
		t.Errorf("they say %q", said)
	}
	for _, f := range all.redacted(t) {
		if text := x.text(t, f); strings.ContainsAny(strings.NewReplacer("sk-ant-", "", redact.Placeholder, "", ".", "").Replace(text), "aB3-") {
			t.Errorf("frame %d, %v, says %q", f.Seq, f.Origin, text)
		}
	}
}

// A piece that is sent again, alone, is no longer whole than it was.
func TestSecretRedelivered(t *testing.T) {
	x := forms[0]
	var all frames
	all.piece(x, "s", "it is "+anthropicKey[:20]).Stream = 1
	all.piece(x, "s", anthropicKey[20:]+", yes").Stream = 1
	f := all.piece(x, "s", anthropicKey[20:]+", yes")
	f.Stream, f.Redelivered = 2, true
	if got := x.text(t, all.redacted(t)[2]); got != "[redacted], yes" {
		t.Errorf("got %q", got)
	}
}

// What could not be read at first, and can be now, is searched by itself.
func TestSecretUnread(t *testing.T) {
	x := forms[0]
	var all frames
	for range 3 {
		all.piece(x, "s", "it is "+anthropicKey+", yes")
	}
	r := redact.NewRedaction(nil)
	r.Read(&all[0])
	r.Read(&all[2])
	for _, f := range all {
		f, err := r.Frame(nil, f)
		if got := x.text(t, f); err != nil || got != "it is sk-ant-[redacted], yes" {
			t.Errorf("frame %d: got %q, %v", f.Seq, got, err)
		}
	}
}

// A private key has many lines.
func TestSecretInLines(t *testing.T) {
	var all frames
	for _, line := range append(strings.Split(pem, "\n"), "done", `{"level":"info","msg":"done"}`) {
		all.add(dialect.Frame{Frame: wire.Frame{Kind: wire.Stderr, Dir: wire.AgentStderr, Raw: []byte(line)}})
	}
	var got []string
	for _, f := range all.redacted(t) {
		got = append(got, string(f.Raw))
	}
	want := []string{"-----BEGIN RSA PRIVATE KEY-----", "[redacted]", "[redacted]", "[redacted]", "-----END RSA PRIVATE KEY-----", "done", `{"level":"info","msg":"done"}`}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of a tape of any size, no more is kept than of a small one.
func BenchmarkRedaction(b *testing.B) {
	x := forms[0]
	var all frames
	for i := range 100_000 {
		all.piece(x, fmt.Sprint("s", i%4), " a piece, as agents send them")
	}
	b.ReportAllocs()
	for b.Loop() {
		r := redact.NewRedaction(nil)
		for i := range all {
			r.Read(&all[i])
		}
		if _, err := r.Frame(nil, all[0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(all))/b.Elapsed().Seconds(), "frames/s")
}

// FuzzRedaction takes any text, cut anywhere.
func FuzzRedaction(f *testing.F) {
	f.Add("use "+anthropicKey, uint64(0x10), false)
	f.Add(pem, uint64(0xf00f), true)
	f.Add("\xff\x00[redacted]password=\n\xf0\x9f", uint64(0x3), false)
	f.Fuzz(func(t *testing.T, text string, cuts uint64, lines bool) {
		text = strings.ToValidUTF8(text, "")
		if len(text) > 1<<16 {
			return
		}
		var parts []string
		for rest := text; rest != ""; cuts = cuts*6364136223846793005 + 1 {
			n := min(len(rest), 1+int(cuts>>33)%40)
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		var all frames
		for _, p := range parts {
			if lines {
				all.add(dialect.Frame{Frame: wire.Frame{Kind: wire.Stderr, Dir: wire.AgentStderr, Raw: []byte(p)}})
			} else {
				all.piece(forms[3], "s", p)
			}
		}
		out := all.redacted(t)
		for i, f := range out {
			if (f.Kind == wire.Notification) != json.Valid(f.Raw) && !lines {
				t.Errorf("%q is redacted to %q", all[i].Raw, f.Raw)
			}
		}
		for i, f := range out.redacted(t) {
			if string(f.Raw) != string(out[i].Raw) {
				t.Errorf("%q is redacted to %q, and that to %q", all[i].Raw, out[i].Raw, f.Raw)
			}
		}
	})
}

// Of 1,000 tokens of all forms, each cut into 2 to 5 pieces, none is left.
func TestTokensInPieces(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 1))
	tokens, secrets := redact.SampleTokens(1000, seed)
	var all frames
	for i, token := range tokens {
		text := "it is " + token + ", yes"
		for n := r.IntN(4); n >= 0; n-- {
			cut := r.IntN(len(text))
			all.piece(forms[0], fmt.Sprint("s", i), text[:cut])
			text = text[cut:]
		}
		all.piece(forms[0], fmt.Sprint("s", i), text)
	}
	said := make(map[string]string)
	for _, f := range all.redacted(t) {
		said[f.Session] += forms[0].text(t, f)
	}
	left := 0
	for i, secret := range secrets {
		if text := said[fmt.Sprint("s", i)]; strings.Contains(text, secret) || !strings.Contains(text, redact.Placeholder) {
			t.Errorf("%q says %q", tokens[i], text)
			left++
		}
	}
	t.Logf("%d of %d are left", left, len(tokens))
}
