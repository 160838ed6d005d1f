package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/internal/memtest"
)

const devtoolsExport = `{
    "version": 1,
    "exportedAt": 1781278341787,
    "tool": {"name": "acp-devtools", "version": "0.4.0"},
    "session": {"id": 77, "name": null, "agentCommand": "/bin/goose acp", "clientName": "Zed", "startedAt": 1781278066194, "endedAt": null},
    "messages": [
        {"seq": 1, "timestamp": 1781278066196, "direction": "editor-to-agent", "kind": "request",
         "raw": "{\"id\":1,\"method\":\"initialize\"}", "payload": {"id": 1, "method": "initialize"}, "rpcId": 1},
        {"seq": 2, "timestamp": 1781278067194, "direction": "agent-to-editor", "kind": "unknown", "raw": "{garbage", "payload": null, "parseError": "x"}
    ]
}
`

var formTests = []struct {
	name, in string
	start    record.Start
	want     []string
}{
	{
		"portable",
		"\n" + `{"acptap":1,"started":"2026-01-02T15:04:05Z","command":["a","b"],"cwd":"/w","name":"n","version":"v","protocol":"acp"}` + "\n" +
			`{"at":0.5,"dir":"c2a","frame":{"id":1,"method":"m"}}`,
		record.Start{Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Command: []string{"a", "b"}, Cwd: "/w", Name: "n", Version: "v", Proto: "acp"},
		[]string{`500ms c2a request {"id":1,"method":"m"}`},
	},
	{
		"portable without a header",
		`{"dir":"a2c","text":"no JSON"}`,
		record.Start{},
		[]string{`0s a2c invalid no JSON`},
	},
	{
		"acp-devtools",
		devtoolsExport,
		record.Start{Time: time.UnixMilli(1781278066194).UTC(), Command: []string{"/bin/goose", "acp"}, Proto: "acp"},
		[]string{`2ms c2a request {"id":1,"method":"initialize"}`, `1s a2c invalid {garbage`},
	},
	{
		"acp-devtools on one line",
		`{"version":1,"session":{"startedAt":1781278066194},"messages":[]}`,
		record.Start{Time: time.UnixMilli(1781278066194).UTC(), Proto: "acp"},
		nil,
	},
	{
		"acp-devtools --log json",
		`{"seq":1,"timestamp":1781278066196,"direction":"editor-to-agent","kind":"request","raw":"{\"id\": 1,\"method\":\"m\"}","payload":{"id":1,"method":"m"}}`,
		record.Start{Time: time.UnixMilli(1781278066196).UTC()},
		[]string{`0s c2a request {"id": 1,"method":"m"}`},
	},
	{
		"acp-debug",
		`{"ts":1706000000.123,"dir":"c2a","msg":{"id":1,"method":"m"}}` + "\n" + `{"ts":1706000001.125,"dir":"a2c","msg":{"id":1,"result":{}}}`,
		record.Start{Time: time.UnixMilli(1706000000123).UTC()},
		[]string{`0s c2a request {"id":1,"method":"m"}`, `1.002s a2c response {"id":1,"result":{}}`},
	},
	{
		"mcpsnoop",
		`{"seq":1,"ts":"2026-01-02T15:04:05+01:00","direction":"meta","raw":{"command":["srv","-x"],"cwd":"/w"}}` + "\n" +
			`{"seq":2,"ts":"2026-01-02T15:04:05.25+01:00","direction":"c2s","raw":{"id":1,"method":"ping"}}` + "\n" +
			`{"seq":3,"ts":"2026-01-02T15:04:05.5+01:00","direction":"stderr","text":"ready"}` + "\n" +
			`{"seq":4,"ts":"2026-01-02T15:04:06+01:00","direction":"s2c","text":"oops"}`,
		record.Start{Time: time.Date(2026, 1, 2, 14, 4, 5, 0, time.UTC), Command: []string{"srv", "-x"}, Cwd: "/w"},
		[]string{`250ms c2a request {"id":1,"method":"ping"}`, `500ms err stderr ready`, `1s a2c invalid oops`},
	},
	{
		"other spellings",
		`{"time":"2026-01-02T15:04:05.5","direction":"Client -> Agent","message":{"method":"m"}}` + "\n" +
			`{"direction":"serverToClient","payload":"{\"method\":\"n\"}\n","raw":null}` + "\n" +
			`{"time":1767366246000000,"direction":"agent_to_client","message":[]}` + "\n" +
			`{"time":"2026-01-02T15:04:01Z","direction":"agent_stderr","message":"earlier"}`,
		record.Start{Time: time.Date(2026, 1, 2, 15, 4, 5, 5e8, time.UTC)},
		[]string{`0s c2a notification {"method":"m"}`, `0s a2c notification {"method":"n"}`, `500ms a2c batch []`, `500ms err stderr earlier`},
	},
	{
		"seconds since the log began",
		`{"ts":0.25,"dir":"c2a","msg":{"method":"m"}}`,
		record.Start{},
		[]string{`250ms c2a notification {"method":"m"}`},
	},
}

func TestForms(t *testing.T) {
	for _, tt := range formTests {
		t.Run(tt.name, func(t *testing.T) {
			tape, err := record.ReadPortable(strings.NewReader(tt.in), "file")
			if err != nil {
				t.Fatal(err)
			}
			info, err := tape.Info()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprintf("%+v", info.Start), fmt.Sprintf("%+v", tt.start); got != want {
				t.Errorf("began with %s, want %s", got, want)
			}
			var got []string
			for f, err := range tape.Frames(1) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%v %v %v %s", f.At, f.Dir, f.Kind, f.Raw))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFormErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no JSON", "{\"dir\":\"c2a\",\"frame\":{}}\n\nhello", `file:3: no JSON`},
		{"no object", `[1]`, `file:1: no JSON object`},
		{"no direction", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `file:1: "dir" is missing; it is c2a, a2c or err`},
		{"no such direction", `{"dir":"in","frame":{}}`, `file:1: unknown direction "in"`},
		{"a newer version", `{"acptap":99}`, `file:1: portable form of version 99: written by a newer acptap; update acptap to read it`},
		{"a bad time", `{"dir":"c2a","at":-1,"frame":{}}`, `file:1: "-1" is no time in seconds`},
		{"bad base64", `{"dir":"c2a","base64":"?"}`, `file:1: base64: `},
		{"nothing in it", `{"dir":"c2a"}`, `file:1: neither "frame", "text", "base64" nor a mark`},
		{"a log whose directions are relative", `{"ts":1706000000,"dir":"in","msg":{}}`, `file:1: "in" is no direction`},
		{"a log without messages", "{\"direction\":\"c2s\",\"raw\":{}}\n{\"direction\":\"c2s\",\"ts\":1}", `file:2: no message; it is looked for in`},
		{"a log with other messages", `{"direction":"c2s","msg":7}`, `file:1: no message`},
		{"a log that is cut off", "{\"dir\":\"c2a\",\"msg\":{}}\n{\"dir\":", `file:2: no JSON`},
		{"a log with a bad time", `{"direction":"c2s","ts":"noon","raw":{}}`, `file:1: "noon" is no time`},
		{"a log beyond all times", `{"direction":"c2s","ts":1e999,"raw":{}}`, `file:1: +Inf is no time`},
		{"a log of two centuries", "{\"direction\":\"c2s\",\"ts\":1e9,\"raw\":{}}\n{\"direction\":\"c2s\",\"ts\":1e10,\"raw\":{}}", `file:2: 2286-11-20 17:46:40 +0000 UTC is too long after the beginning, 2001-09-09 01:46:40 +0000 UTC`},
		{"an export that is cut off", devtoolsExport[:len(devtoolsExport)-9], `file: export of acp-devtools: the file is cut off`},
		{"an export that is cut off in a message", devtoolsExport[:560], `file: export of acp-devtools: the file is cut off`},
		{"an export and more", devtoolsExport + "{}", `file: export of acp-devtools: something stands behind the export`},
		{"an export of another version", `{"version":2}`, `file: export of acp-devtools: version 2 is not known, 1 is`},
		{"an export in another order", `{"exportedAt":1,"messages":[]}`, `file: export of acp-devtools: "session" does not stand before "messages"`},
		{"an export of two sessions", `{"version":1,"session":{"startedAt":1e12},"session":{}}`, `file: export of acp-devtools: two sessions`},
		{"an export without messages", `{"version":1,"session":{"startedAt":1e12},"messages":{}}`, `file: export of acp-devtools: "messages" is no array`},
		{"an export without bytes", `{"version":1,"session":{"startedAt":1e12},"messages":[{"timestamp":1e12,"direction":"editor-to-agent"}]}`, `file: export of acp-devtools: messages[0]: "raw" is missing`},
		{"an export with a time beyond all", `{"version":1,"session":{"startedAt":0},"messages":[{"timestamp":2e12,"direction":"c2a","raw":""}]}`, `file: export of acp-devtools: messages[0]: 2033-05-18 03:33:20 +0000 UTC is too long`},
		{"an export with another direction", strings.Replace(devtoolsExport, "editor-to-agent", "sideways", 1), `file: export of acp-devtools: messages[0]: "sideways" is no direction`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			_, err := store.Import(strings.NewReader(tt.in), "file", nil)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
			if list, err := store.List(); err != nil || len(list.Tapes) > 0 {
				t.Errorf("the store has %+v, %v", list, err)
			}
		})
	}
}

// Another tool's file becomes a tape like any other: with sessions, and with the
// same frames when it comes back from the store.
func TestImportForeign(t *testing.T) {
	in := `{"ts":1706000000,"dir":"c2a","msg":{"id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"ts":1706000001,"dir":"a2c","msg":{"id":1,"result":{"protocolVersion":1}}}
{"ts":1706000002,"dir":"c2a","msg":{"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"ts":1706000003,"dir":"a2c","msg":{"id":2,"result":{"sessionId":"s1"}}}
`
	store := record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(in), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := tape.Sessions()
	if err != nil || len(sessions) != 1 || sessions[0].ID != "s1" || sessions[0].Cwd != "/w" {
		t.Errorf("got sessions %+v, %v, want s1 in /w", sessions, err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Ended, time.Unix(1706000003, 0); !got.Equal(want) {
		t.Errorf("ended at %v, want %v", got, want)
	}
	f, err := tape.Frame(4)
	if err != nil || f.Kind != wire.Response || f.Request != 3 {
		t.Errorf("got frame %+v, %v, want the response to frame 3", f, err)
	}
}

// FuzzImport puts any file into a store: all of it is there then, as it can be read
// without one, or nothing.
func FuzzImport(f *testing.F) {
	for _, tt := range formTests {
		f.Add([]byte(tt.in))
	}
	for _, id := range []string{"20260102T150405000-aaaaaa", "20260102T150405000-../../x", "last", "99990102T150405000-aaaaaa"} {
		f.Add([]byte(`{"acptap":1,"tape":"` + id + `","started":"2026-01-02T15:04:05Z"}` + "\n" + `{"seq":9,"at":1,"dir":"c2a","frame":{"id":1,"method":"m"}}`))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		memtest.Bound(t, func() {
			store := record.OpenStore(t.TempDir())
			id, err := store.Import(bytes.NewReader(file), "file", func(string) {})
			l, failed := store.List()
			if failed != nil || len(l.Broken) > 0 || (err == nil) != (len(l.Tapes) == 1) {
				t.Fatalf("after %v it lists %d tapes, broken %v: %v", err, len(l.Tapes), l.Broken, failed)
			}
			if err != nil {
				return
			}
			imported, err := store.Open(id)
			tape, failed := record.ReadPortable(bytes.NewReader(file), "file")
			if err = errors.Join(err, failed); err != nil || l.Tapes[0].Tape != id {
				t.Fatalf("%s is in the store as %s: %v", id, l.Tapes[0].Tape, err)
			}
			if got, want := shown(t, imported), shown(t, tape); !slices.Equal(got, want) {
				t.Errorf("imported it is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	})
}
