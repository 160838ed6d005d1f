package model_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/probe/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		runAgent(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// start starts a speaker, and returns the address of its server.
func start(t testing.TB, m *model.Model) (probe.Speaker, string) {
	t.Helper()
	s, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, variable(s, "ANTHROPIC_BASE_URL")
}

func variable(s probe.Speaker, name string) (value string) {
	for _, entry := range s.Env() {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// TestExchanges holds each answer against a golden file. In testdata, a section ask has a
// turn in its first line, then the address, then the request.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if !strings.HasPrefix(f.Name, "ask") {
					continue
				}
				speaker, url := start(t, &model.Model{})
				turn, rest, _ := strings.Cut(string(f.Data), "\n")
				path, body, _ := strings.Cut(rest, "\n")
				speaker.Say([][]string{strings.Fields(turn)})
				answer := post(t, url+path, body)
				if lacks := speaker.Lacks(); lacks != "" {
					answer += "lacks: " + lacks + "\n"
				}
				got.Files = append(got.Files, f, txtar.File{Name: strings.Replace(f.Name, "ask", "answer", 1), Data: []byte(answer)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s\n%s", response.StatusCode, response.Header.Get("Content-Type"), data)
}

// TestTurns: a turn is for a question with tools, in order; what a script says later takes the
// place of what was not said; a failure holds until then.
func TestTurns(t *testing.T) {
	speaker, url := start(t, &model.Model{})
	const main, side = `{"model":"m","tools":[{"name":"a","input_schema":{"type":"object"}}]}`, `{"model":"m"}`
	for _, step := range []struct {
		say        string // turns, with commas
		body, want string
	}{
		{"", side, "ok"}, // an agent without tools, as far as one can know
		{"text one,text two", main, "one"},
		{"", side, "ok"},
		{"", main, "two"},
		{"", main, "ok"},
		{"text three", side, "ok"},
		{"fail 500", main, "fails with 500"},
		{"", main, "fails with 500"},
		{"text four", main, "four"},
	} {
		if step.say != "" {
			var turns [][]string
			for turn := range strings.SplitSeq(step.say, ",") {
				turns = append(turns, strings.Fields(turn))
			}
			speaker.Say(turns)
		}
		if got := post(t, url+"/v1/messages", step.body); !strings.Contains(got, step.want) {
			t.Errorf("%q: got %s, want %s", step.say, got, step.want)
		}
	}
}

// TestCases plays the cases for a model to an agent that asks it in each of the APIs.
func TestCases(t *testing.T) {
	t.Parallel()
	all, err := probe.Cases(probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(c *probe.Case) bool {
		return !slices.Contains(c.Needs, "model") && !slices.Contains(c.Needs, "prompts") || slices.Contains(c.Needs, "servers") ||
			c.ID == "questions/file-fails" // the agent reads no files through its client
	})
	few := slices.DeleteFunc(slices.Clone(all), func(c *probe.Case) bool { return c.ID != "turn/text" && c.ID != "questions/allowed" })
	for _, api := range []string{"anthropic", "anthropic whole", "chat", "chat whole", "responses", "responses whole", "gemini", "gemini whole"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			cases := all
			if testing.Short() || strings.HasSuffix(api, "whole") {
				cases = few
			}
			report := run(t, api, cases)
			for i := range report.Results {
				if got := &report.Results[i]; got.Outcome != probe.OK && got.Outcome != probe.NotOffered && got.Outcome != probe.Told {
					t.Errorf("%s: %v, %s", got.Case.ID, got.Outcome, got.Says())
				}
			}
			if n := report.Count(probe.OK); n < 2 {
				t.Errorf("%d cases are ok", n)
			}
		})
	}
}

func run(t *testing.T, api string, cases []*probe.Case) *probe.Report {
	t.Helper()
	r := probe.Runner{
		Command: []string{os.Args[0], "agent", api}, Cases: cases, Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{dialect.ACPv1},
		Model: &model.Model{}, Jobs: 6, Cwd: t.TempDir(), Patience: 30 * time.Second,
	}
	report, err := r.Run(t.Context())
	if err != nil && err != probe.ErrNoCase {
		t.Fatal(err)
	}
	return report
}

// TestUnasked: an agent that does not ask the model is not tried, and what it asked instead is
// refused and named.
func TestUnasked(t *testing.T) {
	all, err := probe.Cases(probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	all, err = probe.Select(all, []string{"turn/text", "cancel/text"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for api, want := range map[string]string{
		"deaf":   "it did not ask the scripted model",
		"abroad": `it did not ask the scripted model, but model.example: error -32603 "403 Forbidden"`,
	} {
		report := run(t, api, all)
		for i := range report.Results {
			if got := &report.Results[i]; got.Outcome != probe.NotTried || got.Got != want {
				t.Errorf("%s: %s: %v %q, want %q", api, got.Case.ID, got.Outcome, got.Got, want)
			}
		}
	}
}

// TestProxy: the proxy in the environment passes what is for this machine, and nothing else.
func TestProxy(t *testing.T) {
	speaker, address := start(t, &model.Model{})
	proxy, err := url.Parse(variable(speaker, "HTTPS_PROXY"))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	get := func(address string) string {
		response, err := client.Get(address)
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		return response.Status
	}
	if got := get(address + "/v1/models"); got != "200 OK" {
		t.Error("this machine:", got)
	}
	if got := get("http://model.example/v1/models"); got != "403 Forbidden" {
		t.Error("another machine:", got)
	}
	if got := get("https://model.example/v1/models"); !strings.Contains(got, "Forbidden") {
		t.Error("another machine by TLS:", got)
	}
	conn, err := net.Dial("tcp", proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host := strings.TrimPrefix(address, "http://")
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: %[1]s\r\nConnection: close\r\n\r\n", host)
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.Contains(answer, []byte("200 Connection established")) || !bytes.Contains(answer, []byte("models/acptap")) {
		t.Errorf("by a tunnel: %q %v", answer, err)
	}
}

// TestHome: an agent gets neither the home of the user nor a key.
func TestHome(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "GITHUB_TOKEN", "AWS_PROFILE", "ACPTAP_TEST_SECRET"} {
		t.Setenv(name, "of-the-user")
	}
	blank := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(blank, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", blank)
	t.Setenv("TMP", blank)
	speaker, url := start(t, &model.Model{})
	if got := strings.Join(speaker.Env(), "\n"); strings.Contains(got, "of-the-user") {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"ANTHROPIC_API_KEY": model.Key, "OPENROUTER_API_KEY": "", "GITHUB_TOKEN": "", "AWS_PROFILE": "", "ACPTAP_TEST_SECRET": "",
		"HTTPS_PROXY": url, "OPENAI_BASE_URL": url + "/v1",
	} {
		if got := variable(speaker, name); got != want || !slices.ContainsFunc(speaker.Env(), func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	home := variable(speaker, "HOME")
	config, err := os.ReadFile(filepath.Join(home, ".codex", "config.toml"))
	if err != nil || !bytes.Contains(config, []byte(url)) {
		t.Errorf("%s %v", config, err)
	}
	if user, err := os.UserHomeDir(); err != nil || home == user {
		t.Error(home, err)
	}
	if err := speaker.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", home, err)
	}
	if _, err := http.Get(url + "/v1/models"); err == nil {
		t.Error("the server still runs")
	}
}
