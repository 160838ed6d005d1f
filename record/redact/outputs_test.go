package redact_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/trace/spans"
	"github.com/acptap/acptap/replay"
)

var everyCut = flag.Bool("every-cut", false, "cut every secret at every offset, into 2 to 5 pieces")

// A sample is a text with a secret in it.
type sample struct {
	text string
	gone []window // of what is left out where the text stands whole
}

// A window is as much of a secret as nothing else has by chance.
type window [12]byte

func newSample(text string, kept map[window]bool) sample {
	s := sample{text: text}
	out := textOf(redact.Frame(wire.Request, []byte(prompt(text))))
	for i := range len(out) - len(window{}) {
		kept[window([]byte(out[i:i+len(window{})]))] = true
	}
	masked := maskedIn(text, out)
	for i := range len(text) - len(window{}) {
		if end := i + len(window{}); !slices.Contains(masked[i:end], false) {
			s.gone = append(s.gone, window([]byte(text[i:end])))
		}
	}
	return s
}

// textOf returns the text of a prompt.
func textOf(frame []byte) string { return wire.ValueAt(frame, "params.prompt.0.text").Text() }

// samples returns what gitleaks has found, once by each rule or all of it, and a token of
// each form.
func samples(t testing.TB, every bool) (all []sample) {
	kept := make(map[window]bool) // what one leaves may be in what is left out of another
	add := func(text string) bool {
		s := newSample(text, kept)
		if len(s.gone) > 0 {
			all = append(all, s)
		}
		return len(s.gone) > 0
	}
	tokens, _ := redact.SampleTokens(redact.TokenForms, 12)
	for _, token := range tokens {
		add("it is " + token + ", yes")
	}
	seen := make(map[string]bool)
	for _, one := range foundByGitleaks(t) {
		if !seen[one.Text] && (every || !seen[one.Rule]) && add(one.Text) {
			seen[one.Rule], seen[one.Text] = true, true
		}
	}
	for i := range all {
		all[i].gone = slices.DeleteFunc(all[i].gone, func(w window) bool { return kept[w] })
	}
	return all
}

// A talk is a conversation in which an agent says secrets.
type talk struct {
	file, client strings.Builder // in the portable form; what the client sends
	turns        int
}

func newTalk() *talk {
	k := new(talk)
	k.file.WriteString(`{"acptap":1,"started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w","protocol":"acp"}` + "\n")
	k.add(true, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	k.add(false, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}`)
	k.add(true, `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	k.add(false, `{"jsonrpc":"2.0","id":"n","result":{"sessionId":"s"}}`)
	return k
}

func (k *talk) add(client bool, frame string) {
	dir := "a2c"
	if client {
		dir = "c2a"
		k.client.WriteString(frame + "\n")
	}
	fmt.Fprintf(&k.file, `{"dir":%q,"frame":%s}`+"\n", dir, frame)
}

func (k *talk) update(update string) {
	k.add(false, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+update+`}}`)
}

// turn adds a turn in which the agent says a text in pieces. Everything else in it is said
// whole.
func (k *talk) turn(prompt string, cuts []int, text string) {
	k.turns++
	k.add(true, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%s}]}}`, k.turns, quote(prompt)))
	from := 0
	for _, to := range append(cuts, len(text)) {
		k.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quote(text[from:to])))
		from = to
	}
	if prompt != "" {
		k.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"run","kind":"execute","status":"completed","rawInput":{"note":%s,"body":%s},"content":[{"type":"content","content":{"type":"text","text":%[2]s}}]}`,
			k.turns, quote(prompt), quote(`{"note":`+quote(prompt)+`}`)))
		from = 0
		for _, to := range append(cuts, len(text)) {
			k.update(fmt.Sprintf(`{"sessionUpdate":"terminal_output_chunk","terminalId":"t%d","data":%q}`, k.turns, base64.StdEncoding.EncodeToString([]byte(text[from:to]))))
			from = to
		}
	}
	k.add(false, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, k.turns))
}

// cuts returns n places in a text, one of which is at.
func cuts(r *rand.Rand, text string, at, n int) []int {
	all := []int{at}
	for len(all) < n {
		all = append(all, r.IntN(len(text)+1))
	}
	slices.Sort(all)
	return all
}

// No secret is in what leaves the machine, whole or in pieces, whatever it is that leaves;
// and a client that has the secrets goes with an export as with the tape.
func TestNoSecretInOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second")
	}
	all := samples(t, *everyCut)
	r := rand.New(rand.NewPCG(13, 14))
	k := newTalk()
	gone := make(map[window]string)
	const most = 5 // pieces
	tapes, turns := 0, 0
	check := func() {
		tapes, turns = tapes+1, turns+k.turns
		checkOutputs(t, k, gone)
		k = newTalk()
		clear(gone)
	}
	for i, s := range all {
		for _, w := range s.gone {
			gone[w] = s.text
		}
		k.turn(s.text, cuts(r, s.text, r.IntN(len(s.text)), 1+i%(most-1)), s.text)
		if *everyCut || i%(len(all)/8) == 0 {
			for at := range s.text {
				for n := 1; n < most && (*everyCut || n == 1); n++ {
					k.turn("", cuts(r, s.text, at, n), s.text)
				}
			}
		}
		if k.turns > 5000 {
			check()
		}
	}
	check()
	t.Logf("%d secrets in %d turns of %d tapes", len(all), turns, tapes)
}

// checkOutputs looks for the windows of secrets in all that can be made of a tape.
func checkOutputs(t *testing.T, k *talk, gone map[window]string) {
	t.Helper()
	tape, err := record.ReadPortable(strings.NewReader(k.file.String()), "talk")
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	var export, page, lines, perfetto bytes.Buffer
	if err := tape.Export(&export, false); err != nil {
		t.Fatal(err)
	}
	if _, err := report.Write(&page, report.Input{Tapes: []report.Tape{{Info: info, Frames: tape.Redacted()}}, Ref: "last"}); err != nil {
		t.Fatal(err)
	}
	sets := plain{json.NewEncoder(&lines)}
	sets.to.SetEscapeHTML(false)
	writeSpans(t, tape, sets)
	writeSpans(t, tape, &spans.Perfetto{W: &perfetto, Start: time.Unix(0, 0)})
	outputs := map[string]string{
		"export": export.String(), "what an export says": said(t, export.String()),
		"report": html.UnescapeString(page.String()), "what is packed in a report": packed(t, page.Bytes()),
		"spans": lines.String(), "Perfetto": perfetto.String(),
	}
	for name, out := range outputs {
		if len(out) < k.turns {
			t.Errorf("%s has %d bytes", name, len(out))
		}
		told := make(map[string]bool)
		for i := range len(out) - len(window{}) {
			if text, left := gone[window([]byte(out[i:i+len(window{})]))]; left && !told[text] {
				told[text] = true
				t.Errorf("%s: of %q is left %q", name, text, out[max(0, i-80):i+80])
			}
		}
	}
	without, err := record.ReadPortable(&export, "export")
	if err != nil {
		t.Fatal(err)
	}
	agent := replay.Agent{Tapes: []*record.Tape{without}, Matching: replay.MatchContent, Cwd: "/w"}
	result, err := agent.Run(t.Context(), strings.NewReader(k.client.String()), io.Discard, io.Discard)
	if err != nil || len(result.Notes) > 0 {
		t.Errorf("the export is another conversation: %v\n%s", err, &result)
	}
}

type spanWriter interface {
	Write(spans.Set) error
	Close() error
}

// plain writes all that a collector may get, without the names of a format.
type plain struct{ to *json.Encoder }

func (p plain) Write(set spans.Set) error { return p.to.Encode(set) }
func (p plain) Close() error              { return nil }

// writeSpans writes the spans of a tape with all that was said.
func writeSpans(t *testing.T, tape *record.Tape, w spanWriter) {
	t.Helper()
	lines, logs := w.(plain)
	b := spans.Builder{Content: true, Logs: logs}
	b.Next(spans.Tape{ID: "t", Start: time.Unix(0, 0)})
	write := func(sets []spans.Set) {
		for _, set := range sets {
			if err := w.Write(set); err != nil {
				t.Fatal(err)
			}
		}
	}
	for f, err := range tape.Redacted() {
		if err != nil {
			t.Fatal(err)
		}
		write(b.Add(&f))
		if !logs {
			continue
		}
		if r, ok := b.Record(&f); ok {
			if err := lines.to.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(b.End())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// said returns the joined pieces of an export.
func said(t *testing.T, export string) string {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(export) {
		update := wire.ValueAt(line, "frame.params.update")
		text.WriteString(update.Get("content.text").Text())
		if data := update.Get("data").Text(); data != "" {
			b, err := base64.StdEncoding.DecodeString(data)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
	}
	return text.String()
}

var packedPattern = regexp.MustCompile(`<script type="application/octet-stream" id="[a-z0-9-]+">([A-Za-z0-9_-]*)</script>`)

// packed returns the text of the frames in a report, without the escapes of JSON.
func packed(t *testing.T, page []byte) string {
	t.Helper()
	var text bytes.Buffer
	for _, m := range packedPattern.FindAllSubmatch(page, -1) {
		data, err := base64.RawURLEncoding.DecodeString(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&text, flate.NewReader(bytes.NewReader(data))); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
