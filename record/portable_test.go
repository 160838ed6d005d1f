package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/testdata/memtest"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// exported returns all of a tape in the portable form, with its secrets or without.
func exported(t testing.TB, tape *record.Tape, secrets bool) string {
	t.Helper()
	var b strings.Builder
	if err := tape.Export(&b, secrets); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shown returns everything that a reader gets of each frame of a tape.
func shown(t testing.TB, tape *record.Tape) []string {
	t.Helper()
	var all []string
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		raw := f.Raw
		f.Raw = nil
		all = append(all, fmt.Sprintf("%+v %q", f, raw))
	}
	return all
}

// controls reports whether a character controls a terminal, but for the end of a
// line.
func controls(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

func TestPortable(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := recordtest.Record(t, store, record.Start{Command: []string{"agent", "--token", "t\x7f\u009b"}, Cwd: "/w", Name: "n", Version: "v", Proto: "acp"})
	for _, c := range []struct {
		dir    wire.Direction
		origin wire.Origin
		p      string
	}{
		{wire.ClientToAgent, wire.Wire, `{"id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"},
		{wire.AgentToClient, wire.Wire, ` {"id":1,"result":{"a":"\u00e9é"}} ` + "\r\n\n"},
		{wire.AgentStderr, wire.Wire, "tab\there \x00 \xff\n"},
		{wire.AgentStderr, wire.Wire, "\x7f\u009b2J\u202e\n"},
		{wire.AgentToClient, wire.Wire, "{\"method\":\"x/y\u009b\",\r\"params\":{\"a\":\"\x7f\u202e\"}}\n"},
		{wire.AgentToClient, wire.Wire, "no JSON <&>\n[]\n" + strings.Repeat("[", 20000) + "\n"},
		{wire.AgentToClient, wire.Withheld, `{"method":"a"}` + "\n"},
		{wire.AgentToClient, wire.Rewritten, `{"method":"b"}` + "\n"},
		{wire.ClientToAgent, wire.Injected, `{"id":2,"method":"c"}` + "\n"},
		{wire.ClientToAgent, wire.Wire, `{"id":3,"method":"d","params":"` + strings.Repeat("x", wire.MaxChecked) + `"}` + "\n"},
		{wire.AgentToClient, wire.Wire, `{"id":3,"result":null}`},
	} {
		if err := j.Append(c.dir, c.origin, []byte(c.p)); err != nil {
			t.Fatal(err)
		}
	}
	j.EOF(wire.ClientToAgent)
	j.ReadFailed(wire.AgentStderr, errors.New("input/output error"))
	j.Fault(errors.New("panic"))
	j.Signal(os.Interrupt)
	j.Exit(130, os.Interrupt, [wire.Directions]int64{1, 2, 3})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	defer j.Wait()
	tape, err := store.Open(j.Tape())
	if err != nil {
		t.Fatal(err)
	}
	text := exported(t, tape, true)
	if i := strings.IndexFunc(text, controls); i >= 0 {
		t.Errorf("a terminal is controlled by %q", text[i:min(len(text), i+40)])
	}
	want := shown(t, tape)

	read, err := record.ReadPortable(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	other := record.OpenStore(t.TempDir())
	id, err := other.Import(strings.NewReader(text), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	if id != j.Tape() {
		t.Errorf("imported as %s, want %s", id, j.Tape())
	}
	imported, err := other.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]*record.Tape{"read": read, "imported": imported} {
		got := shown(t, again)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: frame %d is\n%.400s\nwant\n%.400s", name, i+1, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d frames, want %d", name, len(got), len(want))
		}
		if got := exported(t, again, true); got != text {
			t.Errorf("%s: exported again it differs: %d bytes, want %d", name, len(got), len(text))
		}
	}
	if id, err := other.Import(strings.NewReader(text), "file", nil); err != nil || id == j.Tape() {
		t.Errorf("a second time: imported as %s, %v, want a new id", id, err)
	}
}

// A stable export tells no numbers, and no more of the time than that a second
// has gone by.
func TestPortableStable(t *testing.T) {
	var lines string
	for _, at := range []string{"0", "0.4", "1.2", "1.9", "1.9", "4.5"} {
		lines += `{"at":` + at + `,"dir":"c2a","frame":{"method":"x"}}` + "\n"
	}
	tape, err := record.ReadPortable(strings.NewReader(lines), "tape")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e, err := portable.NewExporter(&b, portable.Head{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Stable = true
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		e.Write(tape, f)
	}
	e.Close()
	const frame = `"dir":"c2a","frame":{"method":"x"}}` + "\n"
	if got, want := b.String(), `{"acptap":1}`+"\n{"+frame+"{"+frame+`{"at":1,`+frame+"{"+frame+"{"+frame+`{"at":4,`+frame; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The header of a file may have fewer members than usual, and the order of a line's members
// does not matter.
func TestPortableByHand(t *testing.T) {
	tape, err := record.ReadPortable(strings.NewReader(`{"acptap":1}
{"dir":"c2a","frame":{"id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"frame":{"id":1,"result":{"protocolVersion":1}},"dir":"a2c","at":0.1}

{"dir":"err","text":"two\nlines"}
{"dir":"c2a","text":"{\"id\":2,\"method\":\"x\"}","end":"crlf","origin":"injected"}
{"dir":"a2c","base64":"/w==","end":"none"}
{"dir":"a2c","gap":7}
{"dir":"c2a","eof":true}
{"dir":"err","error":"is a directory"}
{"dir":"a2c","fault":"panic"}
{"dir":"a2c","exit":{"code":3}}
`), "file")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %v %v %v %v %v %q", f.Seq, f.At, f.Dir, f.Origin, f.Kind, f.End, f.Raw))
	}
	want := []string{
		`1 0s c2a wire request lf "{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}"`,
		`2 100ms a2c wire response lf "{\"id\":1,\"result\":{\"protocolVersion\":1}}"`,
		`3 100ms err wire stderr lf "two"`,
		`4 100ms err wire stderr lf "lines"`,
		`5 100ms c2a injected request crlf "{\"id\":2,\"method\":\"x\"}"`,
		`6 100ms a2c wire invalid none "\xff"`,
		`7 100ms a2c wire mark none "{\"gap\":7}"`,
		`8 100ms c2a wire mark none "{\"eof\":true}"`,
		`9 100ms err wire mark none "{\"error\":\"is a directory\"}"`,
		`10 100ms a2c wire mark none "{\"fault\":\"panic\"}"`,
		`11 100ms a2c wire mark none "{\"exit\":{\"code\":3}}"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	info, err := tape.Info()
	if err != nil || info.Exit == nil || info.Exit.Code != 3 || info.Lost != 7 {
		t.Errorf("got %+v, %v, want exit status 3 and 7 bytes lost", info, err)
	}
}

// Lines keep the numbers that they have in the file, as long as these rise.
func TestPortableNumbers(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"none", "- - -", "1 2 3"},
		{"all", "1 2 3", "1 2 3"},
		{"some left out", "3 4 9 10", "3 4 9 10"},
		{"some without", "- 5 - 9 -", "1 5 6 9 10"},
		{"zero is none", "0 1 2", "1 2 3"},
		{"a second tape", "2 7 1 2 20 -", "2 7 8 9 10 11"},
		{"twice the same", "4 4 9", "4 5 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var file strings.Builder
			for n := range strings.FieldsSeq(tt.in) {
				if n == "-" {
					n = "0"
				}
				fmt.Fprintf(&file, `{"seq":%s,"dir":"a2c","frame":{"method":"x"}}`+"\n", n)
			}
			tape, err := record.ReadPortable(strings.NewReader(strings.ReplaceAll(file.String(), `"seq":0,`, "")), "file")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for f, err := range tape.Rows(1) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(f.Seq))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
			if last, err := tape.Last(); err != nil || fmt.Sprint(last) != got[len(got)-1] {
				t.Errorf("the last frame is %d, %v, want %s", last, err, got[len(got)-1])
			}
		})
	}
	for _, mark := range []string{`"gap":-7`, `"damage":-1`, `"gap":1e30`} {
		if _, err := record.ReadPortable(strings.NewReader(`{"dir":"a2c",`+mark+`}`), "file"); err == nil {
			t.Errorf("%s: want an error", mark)
		}
	}
	for _, seq := range []string{"-1", "1.5", `"1"`, "281474976710657"} {
		_, err := record.ReadPortable(strings.NewReader(`{"seq":`+seq+`,"dir":"a2c","text":""}`), "file")
		if err == nil || !strings.Contains(err.Error(), `file:1: "seq": `+seq) {
			t.Errorf("seq %s: got %v, want an error that names it", seq, err)
		}
	}
}

// What a fault says may be of the traffic.
func TestExportedMark(t *testing.T) {
	tape, err := record.ReadPortable(strings.NewReader(`{"dir":"a2c","fault":"panic: sk-`+strings.Repeat("aB3d", 8)+`"}`), "file")
	if err != nil {
		t.Fatal(err)
	}
	got := exported(t, tape, false)
	if want := `"fault":"panic: sk-[redacted]"}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

func TestExportedHeader(t *testing.T) {
	info := record.Info{Tape: "20260102T150405-abcdefgh", Start: record.Start{Command: []string{"agent", "--token", "t", "--key=k", "X_API_KEY=v"}}}
	for secrets, want := range map[*redact.Redaction]string{
		redact.NewRedaction(nil): `["agent","--token","[redacted]","--key=k","X_API_KEY=[redacted]"]`,
		nil:                      `["agent","--token","t","--key=k","X_API_KEY=v"]`,
	} {
		var b bytes.Buffer
		e, err := portable.NewExporter(&b, portable.Head{Tape: info.Tape, Start: info.Start}, secrets)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if got := wire.ValueAt(b.Bytes(), "command").Raw(); got != want {
			t.Errorf("raw %v: got %s, want %s", secrets == nil, got, want)
		}
	}
}

// FuzzReadPortable takes any file. What can be read is the same after it was
// exported and read again.
func FuzzReadPortable(f *testing.F) {
	for _, file := range seeds(f) {
		f.Add(file)
	}
	f.Add([]byte(`{"dir":"c2a","frame": {} ,"end":"none"}` + "\n" + `{"dir":"c2a","text":"\r\n","origin":"withheld"}` + "\n" + `{"dir":"a2c","signal":"x"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		memtest.Bound(t, func() {
			tape, err := record.ReadPortable(bytes.NewReader(file), "file")
			if err != nil {
				return
			}
			text := exported(t, tape, true)
			again, err := record.ReadPortable(strings.NewReader(text), "export")
			if err != nil {
				t.Fatalf("%q is exported as %q: %v", file, text, err)
			}
			if got, want := shown(t, again), shown(t, tape); !slices.Equal(got, want) {
				t.Errorf("%q is exported as %q; read again it is\n%s\nwant\n%s", file, text, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	})
}
