package demo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
)

// scriptLines returns what one side says in the script.
func scriptLines(script []Step, by wire.Direction) []string {
	var all []string
	for _, step := range script {
		if step.By == by {
			all = append(all, step.Line)
		}
	}
	return all
}

func TestAgent(t *testing.T) {
	script := Script()
	client, agent := scriptLines(script, wire.ClientToAgent), scriptLines(script, wire.AgentToClient)
	own := strings.NewReplacer( // another client: ids, names and words of its own
		`"id":0,"method":"initialize"`, `"id":"a","method":"initialize"`, `demo-editor`, `other`,
		`"id":1,"method":"session/new"`, `"id":1.0,"method":"session/new"`, `TestMean fails`, `Help`,
		`"result":{"content"`, `"result":{"_meta":{},"content"`)
	toOwn := strings.NewReplacer(
		`"id":0,"result":{"protocolVersion"`, `"id":"a","result":{"protocolVersion"`,
		`"id":1,"result":{"sessionId"`, `"id":1.0,"result":{"sessionId"`)
	all := strings.Join(client, "\n") + "\n"
	want := strings.Join(agent, "\n") + "\n"
	for _, tt := range []struct {
		name, in string
		out      string // empty: not looked at
		err      string // empty: none
	}{
		{"as in the script", all, want, ""},
		{"another client", own.Replace(all), toOwn.Replace(want), ""},
		{"line ends", strings.ReplaceAll(all, "\n", "\r\n"), want, ""},
		{"another order", client[1] + "\n", "", "where the script has"},
		{"another session", strings.ReplaceAll(all, Session, "other"), "", "where the script has"},
		{"permission refused", strings.Replace(all, `"optionId":"allow"`, `"optionId":"reject"`, 1), "", "where the script has"},
		{"an error", strings.Replace(all, `"id":0,"result":{"content":`, `"id":0,"error":{"code":-1,"data":`, 1), "", "where the script has"},
		{"an answer to another request", strings.Replace(all, `"id":1,"result"`, `"id":2,"result"`, 1), "", "where the script has"},
		{"no JSON", "hello\n", "", "the client said hello where"},
		{"nothing", "", "", "the client has ended, before "},
		{"more than the script", all + "{}\n", "", "3 bytes more than the script has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := Agent{Fast: true}.Run(strings.NewReader(tt.in), &stdout, &stderr)
			if tt.out != "" && stdout.String() != tt.out {
				t.Errorf("stdout differs:\n%s", cmp.Diff(strings.Split(tt.out, "\n"), strings.Split(stdout.String(), "\n")))
			}
			if got, want := fmt.Sprint(err), tt.err; err == nil && want != "" || err != nil && (want == "" || !strings.Contains(got, want)) {
				t.Errorf("got error %s\nwant %q", got, want)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b)
	for _, m := range []struct {
		by      wire.Direction
		message string
	}{
		{wire.ClientToAgent, `{"id":0,"method":"session/prompt","params":{}}`},
		{wire.AgentToClient, `{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`},
		{wire.AgentToClient, `{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`},
		{wire.AgentToClient, `{"id":0,"method":"fs/read_text_file","params":{}}`},
		{wire.ClientToAgent, `{"id":0,"result":{}}`},
		{wire.AgentToClient, `{"id":0,"result":{}}`},
	} {
		p.Show(m.by, []byte(m.message))
	}
	const want = `client → session/prompt
agent  → session/update plan
agent  → fs/read_text_file
client → answers fs/read_text_file
agent  → answers session/prompt
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("want (-) and got (+) differ:\n%s", d)
	}
}
