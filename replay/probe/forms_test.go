package probe_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"

// someCases want what the agent of TestForms does not do, and tell what it does.
var someCases = fstest.MapFS{
	"a/broken.txt":  {Data: []byte("New is answered.\nfor: v1\n-- steps --\nhello\n> session/new\n< error\n")},
	"a/told.txt":    {Data: []byte("It is told.\ntier: tell\nfor: v1\n-- steps --\nhello\n> session/load\n< answer\n")},
	"a/both.txt":    {Data: []byte("It holds.\nfor: v1 v2\n-- steps --\nhello\n")},
	"a/offered.txt": {Data: []byte("It is offered.\nneeds: far\n-- steps --\nhello\n")},
	"a/v2.txt":      {Data: []byte("It is version 2.\nfor: v2\n-- steps --\nhello\n")},
}

// TestForms: whatever the agent offers, JUnit has the same tests, and no form that leaves
// this machine has a secret of the agent's.
func TestForms(t *testing.T) {
	cases, err := probe.ReadCases(someCases, probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	for i, offered := range []string{`{}`, `{"far":{}}`} {
		text := fmt.Sprintf(`stderr "key %[2]s\n"
on initialize result {"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":%[1]s}
on session/new result {"sessionId":"s","token":"%[2]s"}
on session/load result {"apiKey":"%[2]s"}
`, offered, secret)
		s, err := script.Parse("agent", text, dialect.ACPv1)
		if err != nil {
			t.Fatal(err)
		}
		r := probe.Runner{Cases: cases, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Peer: func() *proxy.Peer { return script.NewAgent(s, dialect.ACPv1, nil, nil) }}
		found, err := r.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var junit, sarif, github, page bytes.Buffer
		err = errors.Join(found.WriteJUnit(&junit, report.FailOn{Least: conform.Violation}), found.WriteSARIF(&sarif, "1.0.0"), found.WriteGitHub(&github), found.WriteHTML(&page))
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string]*bytes.Buffer{"junit": &junit, "sarif": &sarif, "github": &github, "html": &page} {
			if strings.Contains(b.String(), secret) || !strings.Contains(b.String(), "a/broken") {
				t.Errorf("%s has the secret, or no case:\n%s", name, b)
			}
		}
		checkJUnit(t, junit.Bytes(), [...]int{2, 1}[i])
	}
}

// TestHostilePage: what a case or a peer says is text in the page, and only addresses of the
// web are linked.
func TestHostilePage(t *testing.T) {
	for address, link := range map[string]string{
		"https://x/a?b&c":         `<a href="https://x/a?b&amp;c">x/a?b&amp;c</a>`,
		"http://x":                `<a href="http://x">http://x</a>`,
		"javascript:alert(1)":     "javascript:alert(1)",
		"JavaScript:https://x":    "JavaScript:https://x",
		"data:text/html,<script>": "data:text/html,&lt;script&gt;",
		`https://"><script>`:      `<a href="https://&#34;&gt;&lt;script&gt;">&#34;&gt;&lt;script&gt;</a>`,
	} {
		hostile := "</td></title><script>alert(1)</script>\u2028" + `"><img src=x>`
		r := probe.Report{Name: hostile, Version: hostile, Results: []probe.Result{
			{Case: &probe.Case{ID: hostile, Title: hostile, Source: address}, Outcome: probe.Told, Got: hostile, Told: []string{hostile}, File: hostile},
		}}
		var page bytes.Buffer
		if err := r.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		if s := page.String(); strings.Contains(s, "<script") || strings.Contains(s, "<img") || !strings.Contains(s, " <small>"+link+"</small>") {
			t.Errorf("%s: not %s, or markup of a case:\n%s", address, link, s)
		}
	}
}

// checkJUnit checks the numbers of a document with one failure.
func checkJUnit(t *testing.T, data []byte, skipped int) {
	t.Helper()
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err == nil {
		if _, err = d.Token(); !errors.Is(err, io.EOF) {
			t.Errorf("more than a document: %v", err)
		}
	}
	if got.Tests != len(someCases)+1 || got.Failures != 1 || got.Skipped != skipped || len(got.Suites) != 1 || len(got.Suites[0].Cases) != got.Tests {
		t.Errorf("got %+v", got)
	}
}
