package portable_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// A file is what Read tells of one.
type file struct {
	start journal.Start
	tape  string
	lines []portable.Line
	notes []string
}

func read(text string) (file, error) {
	var f file
	err := portable.Read(strings.NewReader(text), "file", func(note string) { f.notes = append(f.notes, note) },
		func(h portable.Head) { f.start, f.tape = h.Start, h.Tape },
		func(l portable.Line) error {
			f.lines = append(f.lines, l)
			return nil
		})
	return f, err
}

// The portable form and those of other tools; each is a file in testdata.
var readTests = []struct {
	file  string
	start journal.Start
	want  []string
}{
	{
		"portable.jsonl",
		journal.Start{Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Command: []string{"a", "b"}, Cwd: "/w", Name: "n", Version: "v", Proto: "acp"},
		[]string{`500ms c2a {"id":1,"method":"m"}`},
	},
	{
		"no-header.jsonl",
		journal.Start{},
		[]string{`0s a2c no JSON`},
	},
	{
		"acp-devtools.json",
		journal.Start{Time: time.UnixMilli(1781278066194).UTC(), Command: []string{"/bin/goose", "acp"}, Proto: "acp"},
		[]string{`2ms c2a {"id":1,"method":"initialize"}`, `1s a2c {garbage`},
	},
	{
		"acp-devtools-one-line.json",
		journal.Start{Time: time.UnixMilli(1781278066194).UTC(), Proto: "acp"},
		nil,
	},
	{
		"acp-devtools-log.jsonl", // of --log json
		journal.Start{Time: time.UnixMilli(1781278066196).UTC()},
		[]string{`0s c2a {"id": 1,"method":"m"}`},
	},
	{
		"acp-debug.jsonl",
		journal.Start{Time: time.UnixMilli(1706000000123).UTC()},
		[]string{`0s c2a {"id":1,"method":"m"}`, `1.002s a2c {"id":1,"result":{}}`},
	},
	{
		"mcpsnoop.jsonl",
		journal.Start{Time: time.Date(2026, 1, 2, 14, 4, 5, 0, time.UTC), Command: []string{"srv", "-x"}, Cwd: "/w"},
		[]string{`250ms c2a {"id":1,"method":"ping"}`, `500ms err ready`, `1s a2c oops`},
	},
	{
		"other-spellings.jsonl",
		journal.Start{Time: time.Date(2026, 1, 2, 15, 4, 5, 5e8, time.UTC)},
		[]string{`0s c2a {"method":"m"}`, `0s a2c {"method":"n"}`, `500ms a2c []`, `500ms err earlier`},
	},
	{
		"relative-times.jsonl",
		journal.Start{},
		[]string{`250ms c2a {"method":"m"}`},
	},
}

func testFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRead(t *testing.T) {
	for _, tt := range readTests {
		t.Run(tt.file, func(t *testing.T) {
			f, err := read(testFile(t, tt.file))
			if err != nil || len(f.notes) > 0 {
				t.Fatalf("%v; noted %q", err, f.notes)
			}
			if got, want := fmt.Sprintf("%+v", f.start), fmt.Sprintf("%+v", tt.start); got != want {
				t.Errorf("began with %s, want %s", got, want)
			}
			var got []string
			for _, l := range f.lines {
				got = append(got, fmt.Sprintf("%v %v %s", l.At, l.Dir, l.Raw))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestReadFindings: what rules found is passed over, in lines of its own only.
func TestReadFindings(t *testing.T) {
	const finding = `{"finding":{"rule":"ACP441","seq":1}}` + "\n"
	f, err := read(`{"acptap":1}` + "\n" + `{"at":1,"dir":"c2a","frame":{"a":1}}` + "\n" + finding + finding + `{"dir":"a2c","frame":{"b":1}}` + "\n" + finding)
	if err != nil || len(f.notes) > 0 || len(f.lines) != 2 {
		t.Fatalf("%d lines, %v; noted %q", len(f.lines), err, f.notes)
	}
	if l := f.lines[1]; l.Number != 5 || l.At != time.Second {
		t.Errorf("the second frame is on line %d, at %v", l.Number, l.At)
	}
	if f, err := read("\uFEFF" + `{"acptap":1}` + "\n" + `{"dir":"a2c","frame":{"b":1}}`); err != nil || len(f.lines) != 1 {
		t.Errorf("behind a byte order mark: %d lines, %v", len(f.lines), err)
	}
	if f, err := read(finding + `{"dir":"a2c","frame":{"b":1}}`); err != nil || len(f.lines) != 1 {
		t.Errorf("without a header: %d lines, %v", len(f.lines), err)
	}
	f, err = read(`{"dir":"c2a","frame":{"a":1},"finding":{}}`)
	if err != nil || len(f.lines) != 1 || len(f.notes) != 1 {
		t.Errorf("in the line of a frame: %d lines, %v; noted %q", len(f.lines), err, f.notes)
	}
}

func TestReadErrors(t *testing.T) {
	export := testFile(t, "acp-devtools.json")
	for _, tt := range []struct{ name, in, want string }{
		{"no JSON", "{\"dir\":\"c2a\",\"frame\":{}}\n\nhello", `file:3: no JSON`},
		{"no object", `[1]`, `file:1: no JSON object`},
		{"no direction", `{"id":1,"method":"initialize"}`, `file:1: "dir" is missing; it is c2a, a2c or err`},
		{"a finding of another kind", `{"finding":"ACP441"}`, `file:1: "dir" is missing`},
		{"findings that are cut off", `{"finding":{"rule":`, `file:1: no JSON`},
		{"no such direction", `{"dir":"in","frame":{}}`, `file:1: unknown direction "in"`},
		{"a newer version", `{"acptap":99}`, `file:1: portable form of version 99: written by a newer acptap; update acptap to read it`},
		{"a need of a newer version", `{"acptap":1,"needs":["rules","tunnels"],"started":7}`, `file:1: the file needs "tunnels": written by a newer acptap; update acptap to read it`},
		{"a head of no stream", `{"dir":"c2a","http":{"method":"POST"}}`, `file:1: "stream" is missing, the number of an HTTP exchange or WebSocket`},
		{"an event of no stream", `{"dir":"a2c","sse":{"id":"1"}}`, `file:1: "stream" is missing`},
		{"two streams", `{"dir":"c2a","stream":1,"http":{"stream":2}}`, `file:1: "stream": 1 and 2 in one line`},
		{"a mark that is of none", `{"dir":"c2a","stream":1,"eof":true}`, `file:1: "stream": such a mark is of none`},
		{"a stream without a number", `{"dir":"c2a","stream":"1","frame":{}}`, `file:1: "stream": "1" is no number of a stream; they begin with 1`},
		{"stream 0", `{"dir":"c2a","stream":0,"frame":{}}`, `file:1: "stream": 0 is no number of a stream`},
		{"framing of no stream", `{"dir":"a2c","frame":{},"lead":"data: "}`, `file:1: "lead" needs "stream", the number of an HTTP exchange or WebSocket`},
		{"an event without its stream", `{"dir":"a2c","frame":{},"event":"7"}`, `file:1: "event" needs "stream"`},
		{"framing twice", `{"dir":"a2c","stream":1,"lead":"data: ","event":"7","frame":{}}`, `file:1: "lead" and "event": the lead has the id of the event`},
		{"framing of another kind", `{"dir":"a2c","stream":1,"lead":7,"frame":{}}`, `file:1: "lead" is text or {"base64":"…"}`},
		{"framing that is cut off", `{"dir":"a2c","stream":1,"lead":{"base64":"?"},"frame":{}}`, `file:1: lead: base64: `},
		{"an id of two lines", `{"dir":"a2c","stream":1,"event":"7\n8","frame":{}}`, `file:1: "event": an id is one line`},
		{"another kind", `{"dir":"a2c","stream":1,"kind":"request","frame":{}}`, `file:1: "kind": there is only "body"`},
		{"a bad time", `{"dir":"c2a","at":-1,"frame":{}}`, `file:1: "-1" is no time in seconds`},
		{"bad base64", `{"dir":"c2a","base64":"?"}`, `file:1: base64: `},
		{"nothing in it", `{"dir":"c2a"}`, `file:1: neither "frame", "text", "base64" nor a mark`},
		{"a log whose directions are relative", `{"ts":1706000000,"dir":"in","msg":{}}`, `file:1: "in" is no direction`},
		{"a log without messages", "{\"direction\":\"c2s\",\"raw\":{}}\n{\"direction\":\"c2s\",\"ts\":1}", `file:2: no message; it is looked for in`},
		{"a log with other messages", `{"direction":"c2s","msg":7}`, `file:1: no message`},
		{"a log that is cut off", "{\"dir\":\"c2a\",\"msg\":{}}\n{\"dir\":", `file:2: no JSON: the file ends within this line; head -n 1 gives those before it`},
		{"a tape that is cut off", "{\"acptap\":1}\n{\"dir\":\"c2a\",\"frame\":{}}\n{\"dir\":\"a2c\",\"fra", `file:3: no JSON: the file ends within this line; head -n 2 gives those before it`},
		{"a log with a bad time", `{"direction":"c2s","ts":"noon","raw":{}}`, `file:1: "noon" is no time`},
		{"a log beyond all times", `{"direction":"c2s","ts":1e999,"raw":{}}`, `file:1: +Inf is no time`},
		{"a log of two centuries", "{\"direction\":\"c2s\",\"ts\":1e9,\"raw\":{}}\n{\"direction\":\"c2s\",\"ts\":1e10,\"raw\":{}}", `file:2: 2286-11-20 17:46:40 +0000 UTC is too long after the beginning, 2001-09-09 01:46:40 +0000 UTC`},
		{"an export that is cut off", export[:len(export)-9], `file: export of acp-devtools: the file is cut off`},
		{"an export that is cut off in a message", export[:560], `file: export of acp-devtools: the file is cut off`},
		{"an export and more", export + "{}", `file: export of acp-devtools: unexpected text after the export`},
		{"an export of another version", `{"version":2}`, `file: export of acp-devtools: version 2 is not known, 1 is`},
		{"an export in another order", `{"exportedAt":1,"messages":[]}`, `file: export of acp-devtools: "session" does not stand before "messages"`},
		{"an export of two sessions", `{"version":1,"session":{"startedAt":1e12},"session":{}}`, `file: export of acp-devtools: two sessions`},
		{"an export without messages", `{"version":1,"session":{"startedAt":1e12},"messages":{}}`, `file: export of acp-devtools: "messages" is no array`},
		{"an export without bytes", `{"version":1,"session":{"startedAt":1e12},"messages":[{"timestamp":1e12,"direction":"editor-to-agent"}]}`, `file: export of acp-devtools: messages[0]: "raw" is missing`},
		{"an export with a time beyond all", `{"version":1,"session":{"startedAt":0},"messages":[{"timestamp":2e12,"direction":"c2a","raw":""}]}`, `file: export of acp-devtools: messages[0]: 2033-05-18 03:33:20 +0000 UTC is too long`},
		{"an export with another direction", strings.Replace(export, "editor-to-agent", "sideways", 1), `file: export of acp-devtools: messages[0]: "sideways" is no direction`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(tt.in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}

var errEnough = errors.New("enough")

// FuzzRead reads any file: it ends, memory follows the file's length, and the error
// of who takes the lines comes back.
func FuzzRead(f *testing.F) {
	for _, tt := range readTests {
		f.Add(testFile(f, tt.file))
	}
	for _, tt := range logTests {
		f.Add(testFile(f, tt.file))
	}
	f.Fuzz(func(t *testing.T, text string) {
		memtest.Bound(t, func() {
			all, err := read(text)
			if err != nil || len(all.lines) == 0 {
				return
			}
			err = portable.Read(strings.NewReader(text), "file", func(string) {}, func(portable.Head) {}, func(portable.Line) error { return errEnough })
			if !errors.Is(err, errEnough) {
				t.Errorf("got %v, want the error of the one who takes lines", err)
			}
		})
	})
}

// TestReadRepeats: a message is read as it was sent, also one that says a thing twice.
func TestReadRepeats(t *testing.T) {
	const message = `{"id":1,"id" : 2,"result":{"a":1,"\u0061":2}}`
	for _, name := range []string{"frame", "raw", "msg"} {
		f, err := read(`{"dir":"a2c","` + name + `":{},"` + name + `":` + message + `}`)
		if err != nil || len(f.lines) != 1 {
			t.Fatalf("%s: %d lines, %v", name, len(f.lines), err)
		}
		if got := string(f.lines[0].Raw); got != message {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
