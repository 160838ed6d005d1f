package nest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/proxy/wire"
)

var (
	_ proxy.Interceptor = (*nest.Rewriter)(nil)
	_ proxy.Selector    = (*nest.Rewriter)(nil)
)

const tape = "20260101T000000000-aaaaaa"

// rewriter returns a Rewriter whose links are first, second, and so on, and its complaints.
func rewriter(t testing.TB) (*nest.Rewriter, *[]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "acptap")
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	var said []string
	links := []string{"first", "second", "third"}
	return &nest.Rewriter{
		Recorder: []string{path, "proxy"}, Store: "/store", Tape: tape,
		Selection: nest.Selection{Stdio: true, HTTP: true},
		Complain:  func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		Link: func() string {
			l := links[0]
			links = append(links[1:], l)
			return l
		},
	}, &said
}

// pass returns a frame as the agent gets it, and its origin on the tape. Complaints are on
// the tape before the frame.
func pass(t testing.TB, r *nest.Rewriter, frame string, origin wire.Origin) (string, wire.Origin) {
	t.Helper()
	out := r.Intercept(wire.Frame{Dir: wire.ClientToAgent, Origin: origin, Raw: []byte(frame), Size: int64(len(frame))}, nil)
	last := len(out) - 1
	for i, f := range out {
		if note := wire.ReadMark(f).Rule; f.Dir != wire.ClientToAgent || (note != nil) != (i < last) {
			t.Fatalf("%s: got %+v", frame, out)
		}
	}
	return string(out[last].Raw), out[last].Origin
}

const (
	begin = `{"jsonrpc":"2.0", "id":1.0,"method":"session/new","params":{"cwd":"/w" ,"mcpServers":[`
	end   = `], "_meta":{"a":1e2}}}`
)

// ACPTAP stands for the program's path in want.
var entryTests = []struct{ name, entry, want string }{
	{
		"version 1",
		`{"name":"files","command":"npx" , "args":[ "-y","pkg\u002d1" ],"env":[{"name":"K","value":"v"}]}`,
		`{"name":"files","command":"ACPTAP" , "args":["proxy","--store","/store","--parent","TAPE/first/files","--name","files","--protocol","mcp","--","npx", "-y","pkg\u002d1" ],"env":[{"name":"K","value":"v"}]}`,
	},
	{
		"version 2, without args",
		`{"type":"stdio","name":"a","command":"a","_meta":{"n":1.0}}`,
		`{"type":"stdio","name":"a","command":"ACPTAP","_meta":{"n":1.0},"args":["proxy","--store","/store","--parent","TAPE/first/a","--name","a","--protocol","mcp","--","a"]}`,
	},
	{
		"args null",
		`{"name":"a","args":null,"command":"a"}`,
		`{"name":"a","args":["proxy","--store","/store","--parent","TAPE/first/a","--name","a","--protocol","mcp","--","a"],"command":"ACPTAP"}`,
	},
	{
		"a name that is not easy",
		`{"name":"a/b \"ü\" \u0000<","command":"a","args":[]}`,
		`{"name":"a/b \"ü\" \u0000<","command":"ACPTAP","args":["proxy","--store","/store","--parent","TAPE/first/a%2Fb%20%22%C3%BC%22%20%3C","--name","a/b \"ü\" <","--protocol","mcp","--","a"]}`,
	},
	{
		"no name",
		`{"command":"a","args":[]}`,
		`{"command":"ACPTAP","args":["proxy","--store","/store","--parent","TAPE/first/","--protocol","mcp","--","a"]}`,
	},
	{
		"a program that looks like a flag",
		`{"name":"a","command":"--","args":["--"]}`,
		`{"name":"a","command":"ACPTAP","args":["proxy","--store","/store","--parent","TAPE/first/a","--name","a","--protocol","mcp","--","--","--"]}`,
	},
	{
		"recorded already",
		`{"name":"a","command":"/usr/bin/acptap","args":["proxy", "--name","mine","--","a"]}`,
		`{"name":"a","command":"/usr/bin/acptap","args":["proxy", "--parent","TAPE/first/a","--name","mine","--","a"]}`,
	},
	{
		"recorded already by the small program",
		`{"name":"a","command":"/usr/bin/acptap-proxy","args":["--name","mine","--","a"]}`,
		`{"name":"a","command":"/usr/bin/acptap-proxy","args":["--parent","TAPE/first/a","--name","mine","--","a"]}`,
	},
	{"the small program has told whose it is", `{"name":"a","command":"acptap-proxy.exe","args":["--store","s","--parent","T/l/a","--","a"]}`, ""},
	{
		"recorded already, into a store of its own",
		`{"name":"a","command":"acptap.exe","args":["--store","proxy","proxy","--","a"]}`,
		`{"name":"a","command":"acptap.exe","args":["--store","proxy","proxy","--parent","TAPE/first/a","--","a"]}`,
	},
	{
		"by this program under another name",
		`{"name":"a","command":"LINK","args":["--store=s","proxy","a"]}`,
		`{"name":"a","command":"LINK","args":["--store=s","proxy","--parent","TAPE/first/a","a"]}`,
	},
	{
		"the parent of what it runs is another's",
		`{"name":"a","command":"acptap","args":["proxy","--","other","--parent","x"]}`,
		`{"name":"a","command":"acptap","args":["proxy","--parent","TAPE/first/a","--","other","--parent","x"]}`,
	},
	{
		"acptap as the server",
		`{"name":"a","command":"acptap","args":["replay","agent","last"]}`,
		`{"name":"a","command":"ACPTAP","args":["proxy","--store","/store","--parent","TAPE/first/a","--name","a","--protocol","mcp","--","acptap","replay","agent","last"]}`,
	},
	{"whose it is is told already", `{"name":"a","command":"acptap","args":["proxy","--parent","T/l/a","--","a"]}`, ""},
	{"likewise", `{"name":"a","command":"acptap","args":["proxy","--parent=T/l/a","--","a"]}`, ""},
	{"args that are no list", `{"name":"a","command":"a","args":{}}`, ""},
	{"http", `{"type":"http","name":"a","url":"https://a/mcp","headers":[]}`, ""},
	{"acp", `{"type":"acp","name":"a","id":"x","command":"a"}`, ""},
	{"unknown", `{"type":"pipe","name":"a","command":"a"}`, ""},
}

func TestEntries(t *testing.T) {
	for _, tt := range entryTests {
		t.Run(tt.name, func(t *testing.T) {
			r, said := rewriter(t)
			link := filepath.Join(filepath.Dir(r.Recorder[0]), "other")
			if err := os.Link(r.Recorder[0], link); err != nil {
				t.Skip(err)
			}
			paths := strings.NewReplacer("ACPTAP", r.Recorder[0], "LINK", link, "TAPE", tape)
			frame := begin + paths.Replace(tt.entry) + end
			want, origin := begin+paths.Replace(tt.want)+end, wire.Rewritten
			if tt.want == "" {
				want, origin = frame, wire.Wire
			}
			got, gotOrigin := pass(t, r, frame, wire.Wire)
			if got != want || gotOrigin != origin {
				t.Errorf("got  %v\n%s\nwant %v\n%s", gotOrigin, got, origin, want)
			}
			servers, _ := dialect.Servers([]byte(got))
			for _, s := range servers {
				p, ok := nest.ParentOf([]byte(got[s.At.Start:s.At.End]))
				if told := strings.Contains(got, `"--parent`); ok != (told && s.Kind == dialect.StdioServer) || ok && p.Link != "first" && p.Link != "l" {
					t.Errorf("the parent of %s is %+v, %v", got, p, ok)
				}
			}
			if again, o := pass(t, r, got, wire.Wire); again != got || o != wire.Wire {
				t.Errorf("rewritten once more, %v:\n%s\nwas\n%s", o, again, got)
			}
			if len(*said) > 0 {
				t.Errorf("it complains: %q", *said)
			}
		})
	}
}

// Each server has a link of its own, wherever in the frame it stands.
func TestLinks(t *testing.T) {
	r, _ := rewriter(t)
	setup := func(id, name string) string {
		return `{"id":` + id + `,"method":"session/load","params":{"mcpServers":[{"name":"` + name + `","command":"x","args":[]}]}}`
	}
	frame := `[` + setup("1", "a") + `,{"method":"x"} ,{"id":2,"method":"proxy/successor","params":` + setup("3", "a") + `}]`
	got, _ := pass(t, r, frame, wire.Wire)
	for _, want := range []string{tape + "/first/a", tape + "/second/a"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	a, b := nest.NewLink(), nest.NewLink()
	if a == b || len(a) != 8 || strings.Trim(a, "abcdefghijklmnopqrstuvwxyz") != "" {
		t.Errorf("new links are %s and %s", a, b)
	}
}

func TestSelection(t *testing.T) {
	const servers = `{"name":"a","command":"x","args":[]},{"name":"b","command":"x","args":[]},{"type":"http","name":"c","url":"http://c/mcp"},{"type":"sse","name":"d","url":"http://d/sse"}`
	for _, tt := range []struct{ which, want string }{
		{"all", "abcd"},
		{"stdio", "ab"},
		{"http", "cd"},
		{"stdio,http", "abcd"},
		{"only:b", "b"},
		{"only:b,only:c", "bc"},
		{"not:a", "bcd"},
		{"stdio,not:a", "b"},
		{"http,only:a", ""},
		{"force", "abcd"},
	} {
		s, err := nest.ParseSelection(tt.which)
		if err != nil {
			t.Errorf("%s: %v", tt.which, err)
			continue
		}
		r, _ := rewriter(t)
		r.Selection = s
		r.URL = func(p nest.Parent, kind dialect.ServerKind, url string) (string, error) {
			return url + "?" + p.String(), nil
		}
		got, _ := pass(t, r, begin+servers+end, wire.Wire)
		names := ""
		for _, name := range []string{"a", "b", "c", "d"} {
			if strings.Contains(got, "/"+name+`"`) && strings.Count(got, tape+"/first/"+name)+strings.Count(got, tape+"/second/"+name)+strings.Count(got, tape+"/third/"+name) == 1 {
				names += name
			}
		}
		if names != tt.want {
			t.Errorf("%s: rewritten are %q, want %q\n%s", tt.which, names, tt.want, got)
		}
	}
	for which, want := range map[string]string{
		"":              `"" is not all, stdio`,
		"all,":          `"" is not all, stdio`,
		"some":          `"some" is not all`,
		"only:":         "behind only: there is the name",
		"not:":          "behind not: there is the name",
		"only:a,not:a":  "only:a and not:a exclude each other",
		"only:a, not:b": `" not:b" is not`,
	} {
		if _, err := nest.ParseSelection(which); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", which, err, want)
		}
	}
}

// A func decides about servers reached over HTTP.
func TestURL(t *testing.T) {
	r, said := rewriter(t)
	r.URL = func(p nest.Parent, kind dialect.ServerKind, url string) (string, error) {
		if kind == dialect.SSEServer {
			return "", errors.New("no port is left")
		}
		return "http://127.0.0.1:9/" + p.Link + "?" + url, nil
	}
	got, origin := pass(t, r, begin+`{"type":"http","name":"a","url":"https:\/\/a/mcp","headers":[{"name":"K","value":"v"}]},{"type":"sse","name":"b","url":"https://b/sse"}`+end, wire.Wire)
	want := begin + `{"type":"http","name":"a","url":"http://127.0.0.1:9/first?https://a/mcp","headers":[{"name":"K","value":"v"}]},{"type":"sse","name":"b","url":"https://b/sse"}` + end
	if got != want || origin != wire.Rewritten {
		t.Errorf("got %v\n%s\nwant\n%s", origin, got, want)
	}
	if len(*said) != 1 || (*said)[0] != "MCP server b is not recorded: no port is left" {
		t.Errorf("it complains: %q", *said)
	}
}

// Something else may be started in place of a server, of which nothing but the rest of its
// entry stays.
func TestSubstitute(t *testing.T) {
	var asked []string
	s := &nest.Substitute{
		Command: func(name string) []string {
			asked = append(asked, name)
			if name == "live" {
				return nil
			}
			return []string{"player", "<" + name + ">"}
		},
		URL: func(name string) string {
			asked = append(asked, name+" by URL")
			if name == "live" {
				return ""
			}
			return "http://127.0.0.1:1/" + name
		},
	}
	frame := begin + `{"name":"a","command":"x", "args":["y" ],"env":[]},{"name":"live","command":"x","args":[]},{"type":"http","name":"live","url":"http://h"},{"type":"sse","name":"h","url":"http://h","headers":[]},{"type":"acp","name":"c","serverId":"1"},{"type":"stdio","name":"b","command":"x"}` + end
	want := begin + `{"name":"a","command":"player", "args":["<a>"],"env":[]},{"name":"live","command":"x","args":[]},{"type":"http","name":"live","url":"http://h"},{"type":"http","name":"h","url":"http://127.0.0.1:1/h","headers":[]},{"type":"acp","name":"c","serverId":"1"},{"type":"stdio","name":"b","command":"player","args":["<b>"]}` + end
	out := s.Intercept(wire.Frame{Dir: wire.ClientToAgent, Raw: []byte(frame)}, nil)
	if len(out) != 1 || string(out[0].Raw) != want || out[0].Origin != wire.Rewritten {
		t.Errorf("got\n%s\nwant\n%s", out[0].Raw, want)
	}
	if got, want := strings.Join(asked, ", "), "a, live, live by URL, h by URL, b"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	f := wire.Frame{Dir: wire.ClientToAgent, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}`)}
	if out := s.Intercept(f, nil); len(out) != 1 || !reflect.DeepEqual(out[0], f) {
		t.Errorf("of a prompt: got %+v", out)
	}
}

// Where no server can be recorded, all stay as they are, and it says why: each time
// that there are some.
func TestUnfit(t *testing.T) {
	const setup = begin + `{"name":"a","command":"a","args":[]}` + end
	for _, tt := range []struct {
		name   string
		change func(r *nest.Rewriter)
		frame  string
		want   string // empty: it is rewritten, and nothing is said
	}{
		{"docker", func(r *nest.Rewriter) { r.Agent = []string{"/usr/bin/docker", "run", "agent"} }, setup, "docker runs the agent where it may not find "},
		{"WSL", func(r *nest.Rewriter) { r.Agent = []string{`C:\Windows\System32\WSL.exe`, "agent"} }, setup, "wsl runs the agent "},
		{"docker, by force", func(r *nest.Rewriter) { r.Agent, r.Selection.Force = []string{"docker"}, true }, setup, ""},
		{"npx", func(r *nest.Rewriter) { r.Agent = []string{"npx", "docker"} }, setup, ""},
		{"gone", func(r *nest.Rewriter) { os.Remove(r.Recorder[0]) }, setup, ", which would record them, is gone: MCP servers are not recorded"},
		{"a directory", func(r *nest.Rewriter) { r.Recorder[0] = filepath.Dir(r.Recorder[0]) }, setup, ", which would record them, is gone"},
		{"no UTF-8", func(r *nest.Rewriter) { r.Store = "/\xff" }, setup, "are no UTF-8"},
		{"too long", func(*nest.Rewriter) {}, strings.Replace(setup, `"/w"`, `"/`+strings.Repeat("w", 1<<20)+`"`, 1), "session/new is longer than 1 MiB: its MCP servers are not recorded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, said := rewriter(t)
			tt.change(r)
			for range 2 {
				*said = nil
				got, origin := pass(t, r, tt.frame, wire.Wire)
				switch {
				case tt.want == "" && (origin != wire.Rewritten || len(*said) > 0):
					t.Errorf("got %v, and it says %q", origin, *said)
				case tt.want != "" && (got != tt.frame || origin != wire.Wire || len(*said) != 1 || !strings.Contains((*said)[0], tt.want)):
					t.Errorf("got %v, and it says %q, want %q", origin, *said, tt.want)
				}
			}
			*said = nil
			if _, origin := pass(t, r, begin+end, wire.Wire); origin != wire.Wire || len(*said) > 0 {
				t.Errorf("without servers: got %v, and it says %q", origin, *said)
			}
		})
	}
}

// Frames that another Interceptor has made or changed are rewritten as well, and the agent's
// frames are not.
func TestOrigins(t *testing.T) {
	r, _ := rewriter(t)
	frame := begin + `{"name":"a","command":"a","args":[]}` + end
	for _, origin := range []wire.Origin{wire.Wire, wire.Injected, wire.Rewritten} {
		if got, o := pass(t, r, frame, origin); got == frame || o != wire.Rewritten {
			t.Errorf("what came as %v goes on as %v: %s", origin, o, got)
		}
	}
	f := wire.Frame{Dir: wire.AgentToClient, Raw: []byte(frame)}
	if got := r.Intercept(f, nil); len(got) != 1 || !reflect.DeepEqual(got[0], f) {
		t.Errorf("of the agent: got %+v", got)
	}
	if !r.Wants(wire.ClientToAgent) || r.Wants(wire.AgentToClient) {
		t.Errorf("it wants to see other frames than the client's")
	}
}

// A name that no server has, and that may be mistyped, is reported once. So is the number of
// servers over the limit.
func TestComplaints(t *testing.T) {
	r, said := rewriter(t)
	var err error
	if r.Selection, err = nest.ParseSelection("only:a,only:fils,not:gti"); err != nil {
		t.Fatal(err)
	}
	entry := func(name string) string { return `{"name":"` + name + `","command":"x","args":[]}` }
	pass(t, r, begin+end, wire.Wire) // has none at all
	for range 2 {
		pass(t, r, begin+entry("a")+","+entry("files")+end, wire.Wire)
	}
	want := []string{
		"only:fils: the client names no such MCP server, but a, files",
		"not:gti: the client names no such MCP server, but a, files",
	}
	if !slices.Equal(*said, want) {
		t.Errorf("got %q, want %q", *said, want)
	}

	r, said = rewriter(t)
	r.Selection.Only = []string{"b"}
	pass(t, r, begin+strings.TrimSuffix(strings.Repeat(entry("a")+",", 1030), ",")+end, wire.Wire)
	want = []string{
		"the last 6 of 1030 MCP servers are not recorded: they are too many",
		"only:b: the client names no such MCP server, but a, a, a, a, a, a, a, a, 1016 more",
	}
	if !slices.Equal(*said, want) {
		t.Errorf("got %q, want %q", *said, want)
	}
}

func TestParent(t *testing.T) {
	for _, p := range []nest.Parent{{tape, "abcdefgh", "files"}, {tape, "x", "a/b %ü\x00\n"}, {"t", "l", ""}} {
		got, err := nest.ParseParent(p.String())
		if err != nil || got != p {
			t.Errorf("%s is read as %+v, %v, want %+v", p, got, err, p)
		}
	}
	for _, bad := range []string{"", "a", "a/b", "/b/c", "a//c", "a/b/c/d", "a/b/%zz"} {
		if got, err := nest.ParseParent(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

// FuzzRewrite: only entries change, in entries only command and args, and the original
// command follows acptap's own arguments.
func FuzzRewrite(f *testing.F) {
	for _, tt := range entryTests {
		f.Add([]byte(begin + strings.ReplaceAll(tt.entry, "LINK", "acptap") + end))
		f.Add([]byte("[" + begin + tt.entry + "," + tt.entry + end + ` , {"id":2,"method":"_proxy/successor","params":` + begin + tt.entry + end + "}]"))
	}
	r, _ := rewriter(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		text, origin := pass(t, r, string(frame), wire.Wire)
		got := []byte(text)
		if (origin == wire.Rewritten) == bytes.Equal(got, frame) {
			t.Fatalf("%q: it comes as %v:\n%q", frame, origin, got)
		}
		if wire.Scan(frame).Kind != wire.Scan(got).Kind {
			t.Fatalf("%q: a %v becomes a %v:\n%q", frame, wire.Scan(frame).Kind, wire.Scan(got).Kind, got)
		}
		before, _ := dialect.Servers(frame)
		after, _ := dialect.Servers(got)
		if len(got) <= wire.MaxChecked {
			if again, _ := pass(t, r, text, wire.Wire); again != text {
				t.Fatalf("%q: rewritten twice it is\n%q\nnot\n%q", frame, again, got)
			}
			if !bytes.Equal(without(frame, before), without(got, after)) {
				t.Fatalf("%q: more than entries has changed:\n%q", frame, got)
			}
			for i := range before {
				checkEntry(t, frame[before[i].At.Start:before[i].At.End], got[after[i].At.Start:after[i].At.End])
			}
		}
	})
}

// without returns a frame without its servers.
func without(frame []byte, servers []dialect.Server) (rest []byte) {
	done := 0
	for _, s := range servers {
		rest = append(rest, frame[done:s.At.Start]...)
		done = s.At.End
	}
	return append(rest, frame[done:]...)
}

// checkEntry compares an entry with its rewritten form: it starts the same command behind
// acptap, or names its parent.
func checkEntry(t *testing.T, before, after []byte) {
	t.Helper()
	if bytes.Equal(before, after) {
		return
	}
	var was, is map[string]json.RawMessage
	json.Unmarshal(before, &was)
	json.Unmarshal(after, &is)
	a, b := words(was), words(is)
	if at := slices.Index(b, `"--parent"`); at >= 0 && !slices.Equal(b[max(len(b)-len(a), 0):], a) {
		b = slices.Delete(b, at, at+2)
	} else {
		b = b[len(b)-len(a):]
	}
	if !slices.Equal(a, b) {
		t.Fatalf("%q becomes\n%q, and what is started is %q, not %q", before, after, b, a)
	}
	for _, key := range []string{"command", "args"} {
		delete(was, key)
		delete(is, key)
	}
	if !reflect.DeepEqual(was, is) {
		t.Fatalf("%q becomes\n%q", before, after)
	}
}

// words returns the command and the arguments of an entry as they are spelled.
func words(entry map[string]json.RawMessage) (list []string) {
	var args []json.RawMessage
	json.Unmarshal(entry["args"], &args)
	for _, w := range slices.Insert(args, 0, entry["command"]) {
		list = append(list, string(w))
	}
	return list
}
