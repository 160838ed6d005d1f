package conform_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/conform"
)

// Logins of the type env_var were in drafts of version 1, as other keys of former schemas
// were. An unknown key of another login is no note.
func TestFormerLogin(t *testing.T) {
	for kind, want := range map[string]conform.Strength{"env_var": conform.Note, "magic": conform.Warning} {
		found := check(frames(t, `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[{"id":"a","name":"A"},{"id":"key","name":"Key","type":"`+kind+`","vars":[{"name":"KEY"}]}],"agentInfo":{"name":"agent","version":"1"}}}
`)).Findings()
		if len(found) == 0 {
			t.Errorf("%s: nothing found", kind)
		}
		for _, f := range found {
			if f.Rule.ID != "ACP002" || f.Strength != want {
				t.Errorf("%s: found %s, a %v, want a %v: %s", kind, f.Rule.ID, f.Strength, want, f.Text)
			}
		}
	}
}
