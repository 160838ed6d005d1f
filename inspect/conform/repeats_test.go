package conform_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/trace"
)

// TestRepeatsCountForNone writes members before others of the same name into the frames
// of each conversation: all who read them say the same as before.
func TestRepeatsCountForNone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, c := range conversations(t) {
		planted := make([]dialect.Frame, len(c.frames))
		for i, f := range c.frames {
			planted[i] = dialect.Frame{Frame: f.Frame, Annotation: f.Annotation}
			if f.Kind.IsMessage() && !f.Derived && int64(len(f.Raw)) == f.Size {
				planted[i].Raw = plantRepeats(random, f.Raw)
				planted[i].Size = int64(len(planted[i].Raw))
			}
		}
		was, now := annotated(c.frames), annotated(planted)
		for i := range was {
			want, got := told(&was[i]), told(&now[i])
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: of %s (-was, +now):\n%s", c.name, now[i].Raw, d)
			}
		}
		if d := cmp.Diff(chats(was), chats(now)); d != "" {
			t.Errorf("%s: the conversation (-was, +now):\n%s", c.name, d)
		}
		if d := cmp.Diff(findings(was), findings(now)); d != "" {
			t.Errorf("%s: findings (-was, +now):\n%s", c.name, d)
		}
	}
}

// plantRepeats writes up to three members into a message, each before one of that name.
func plantRepeats(random *rand.Rand, raw []byte) []byte {
	for range random.IntN(4) {
		var names [][2]int
		r := wire.Reader{Text: raw}
		for token, start := r.Next(); token != wire.NoToken; token, start = r.Next() {
			if token == wire.MemberName {
				names = append(names, [2]int{start, r.Pos})
			}
		}
		if names == nil {
			break
		}
		at := names[random.IntN(len(names))]
		name := string(raw[at[0]:at[1]])
		if len(name) > 2 && name[1] != '\\' && name[1] < 0x80 && random.IntN(2) == 0 {
			name = fmt.Sprintf(`"\u%04x%s`, name[1], name[2:])
		}
		value := []string{`"planted"`, `7`, `null`, `true`, `[]`, `{}`, `{"sessionId":"planted","type":"planted"}`, `[{"a":1,"a":2}]`}[random.IntN(8)]
		raw = []byte(string(raw[:at[0]]) + name + ":" + value + "," + string(raw[at[0]:]))
	}
	return raw
}

// told is what the findings say about one frame.
func told(f *dialect.Frame) map[string]string {
	e := wire.Scan(f.Raw)
	e.Repeats = false
	all := map[string]string{
		"annotation": fmt.Sprintf("%+v", f.Annotation),
		"envelope":   fmt.Sprintf("%+v", e),
		"tool":       fmt.Sprint(filter.ToolOf(f), filter.ToolsOf(f)),
	}
	if summary := frametext.Summary(*f, filter.Tool{}); !strings.HasPrefix(summary, "{") { // else it is the frame
		all["summary"] = summary
	}
	if f.Kind.IsMessage() {
		all["redacted"] = wire.ValueOf(redact.Frame(f.Kind, f.Raw)).Raw()
	}
	for _, query := range []string{".params.update.sessionUpdate:agent", ".params.sessionId:s", ".result.stopReason:e", ".params.#.type:text", "tool:e", "id:1"} {
		parsed, err := filter.Parse(query)
		if err != nil {
			panic(err)
		}
		all[query] = fmt.Sprint(parsed.Match(&filter.Subject{Frame: f}))
	}
	return all
}

// chats returns the conversations of a tape as text.
func chats(frames []dialect.Frame) string {
	var t trace.Trace
	for i := range frames {
		t.Add(&frames[i])
	}
	t.End()
	var b bytes.Buffer
	for _, s := range t.Sessions {
		if err := trace.WriteText(&b, &s.Conversation, trace.Text{}); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// findings returns the findings on a tape, except those about repeats and the length of
// lines.
func findings(frames []dialect.Frame) (all []string) {
	for _, f := range check(frames).Findings() {
		if f.Rule.ID != "RPC025" && f.Rule.ID != "RPC020" {
			all = append(all, fmt.Sprint(f.Rule.ID, f.Fault, f.Seq, f.Entry, f.Path, f.Text, strings.TrimSpace(f.Want)))
		}
	}
	return all
}
