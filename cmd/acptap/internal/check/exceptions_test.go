package check

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// a finding of ACP201, a violation.
func anyFinding(t *testing.T) *conform.Finding {
	t.Helper()
	r := conform.Lookup("ACP201")
	return &conform.Finding{Rule: r, Strength: r.Strength(), Fault: conform.Agent, Method: "session/new"}
}

var connection = dialect.Connection{
	Protocol: dialect.ACP, Dialect: dialect.ACPv1,
	Agent: "@scope/my-agent", AgentVersion: "1.4.2", Client: "My Editor", ClientVersion: "3",
}

func TestStrength(t *testing.T) {
	for _, tt := range []struct {
		name, file, choose string
		want               conform.Strength
	}{
		{"no line", "", "", conform.Violation},
		{"only reasons", "# nothing\n\n   # at all", "", conform.Violation},
		{"ignored", "ignore ACP201 # they know", "", conform.None},
		{"behind a byte order mark, as Windows ends lines", "\uFEFFignore ACP201 # they know\r\n", "", conform.None},
		{"by the beginning", "ignore RPC,acp2 # they know", "", conform.None},
		{"another rule", "ignore RPC # they know", "", conform.Violation},
		{"a note", "note ACP201 # not so bad", "", conform.Note},
		{"the last counts", "ignore ACP # all\nwarning ACP201 # but this", "", conform.Warning},
		{"the flag beats the file", "ignore ACP201 # they know", "acp201", conform.Violation},
		{"a flag for more does not", "ignore ACP201 # they know", "ACP", conform.None},
		{"a flag does not restore a strength", "note ACP201 # not so bad", "ACP201", conform.Note},
		{"this agent", "ignore ACP201 agent=@scope/my-agent # old", "", conform.None},
		{"this version", "ignore ACP201 agent=@scope/my-agent@1.4.2 # old", "", conform.None},
		{"these versions", "ignore ACP201 agent=@scope/my-agent@1.* # old", "", conform.None},
		{"another version", "ignore ACP201 agent=@scope/my-agent@2.* # old", "", conform.Violation},
		{"another agent", "ignore ACP201 agent=my-agent # old", "", conform.Violation},
		{"a name with a blank", `ignore ACP201 "client=My Editor" # old`, "", conform.None},
		{"quoted in the middle", `ignore ACP201 client="My Editor@3" # old`, "", conform.None},
		{"a name with the sign of a reason", `ignore ACP201 client=C# # old`, "", conform.Violation},
		{"this dialect", "ignore ACP201 dialect=v1 # old", "", conform.None},
		{"another dialect", "ignore ACP201 dialect=v2 # old", "", conform.Violation},
		{"this method", "ignore ACP201 method=session/* # old", "", conform.None},
		{"all of several conditions", "ignore ACP201 method=session/* dialect=v2 # old", "", conform.Violation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parseExceptions(strings.NewReader(tt.file), "file")
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Strength(anyFinding(t), &connection, []string{tt.choose}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestExceptionErrors(t *testing.T) {
	for file, want := range map[string]string{
		"# one\nignore ACP201":                 `f:2: the reason is missing; write it after a # at the end of the line`,
		"ignore ACP201 #":                      `f:1: the reason is missing`,
		"ignore # what":                        `f:1: ignore what? The id of a rule is missing`,
		"ignroe ACP201 # so":                   `f:1: a line cannot begin with "ignroe"; did you mean ignore?`,
		"forget ACP201 # so":                   `f:1: a line cannot begin with "forget"; there are ignore, note, hurts, warning, violation`,
		"ignore ACP2O1 # so":                   `f:1: no rule is called "ACP2O1", and none begins so; the nearest is ACP201`,
		"ignore ACP201 server=x # so":          `f:1: "server=x" is no condition; there are agent=, client=, dialect=, method=`,
		"ignore ACP201 agent= # so":            `f:1: agent= has no value`,
		"ignore ACP201 dialect=v3 # so":        `f:1: unknown dialect "v3"`,
		`ignore ACP201 agent="x # so`:          `f:1: a " is not closed`,
		"ignore " + strings.Repeat("x", 1<<17): `f: bufio.Scanner: token too long`,
	} {
		if _, err := parseExceptions(strings.NewReader(file), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", file, err, want)
		}
	}
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		choose, ignore string
		has, hasNot    string
	}{
		{"", "", "ACP201", ""},
		{"ACP2", "", "ACP201", "RPC005"},
		{"", "ACP2,rpc005", "RPC018", "ACP201"},
		{"ACP,RPC", "ACP201", "RPC005", "ACP201"},
	} {
		words := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		rules, err := selectRules(words(tt.choose), words(tt.ignore))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, r := range rules {
			got[r.ID] = true
		}
		if !got[tt.has] || got[tt.hasNot] {
			t.Errorf("--select %s --ignore %s: %s %v, %s %v", tt.choose, tt.ignore, tt.has, got[tt.has], tt.hasNot, got[tt.hasNot])
		}
	}
	if _, err := selectRules([]string{"ACP201"}, []string{"ACP"}); err == nil {
		t.Error("nothing is left, and that is no error")
	}
}

func TestLookup(t *testing.T) {
	for word, want := range map[string]string{
		"ACP441": "ACP441", "acp441": "ACP441", "cancelled-prompt": "ACP441", "Cancelled-Prompt": "ACP441",
		"cancelled-pr": "ACP441", "watch": "WATCH", "stalled": "WATCH", "EXPECT": "EXPECT",
		"canceled-prompt": `no rule is called "canceled-prompt", and none begins so; the nearest is cancelled-prompt (`,
		"ACP4422":         `no rule is called "ACP4422", and none begins so; the nearest is ACP422 (`,
		"ACP":             `"ACP" is the beginning of `,
		"":                `no rule is called ""`,
	} {
		got := ""
		if r, err := lookupRule(word); err != nil {
			got = err.Error()
		} else {
			got = r.ID
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

// FuzzExceptions: any file is either rejected with an error or can be used.
func FuzzExceptions(f *testing.F) {
	f.Add("ignore ACP201 agent=@a/b@1* # r")
	f.Add("note RPC \"client=a b\" # r\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseExceptions(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		if got := c.Strength(anyFinding(t), &connection, nil); got > conform.Violation {
			t.Errorf("got the strength %d", got)
		}
	})
}
