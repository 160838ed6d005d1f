package probe

import (
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// playTexts plays a case to a client that starts its agent for each text, and plays the text
// to it.
func playTexts(t *testing.T, c *Case, texts ...string) Result {
	t.Helper()
	client := &scriptedClient{dialect: dialect.ACPv1}
	for _, text := range texts {
		s, err := script.Parse("client", text, dialect.ACPv1)
		if err != nil {
			t.Fatal(err)
		}
		client.scripts = append(client.scripts, s)
	}
	r := Runner{Kind: Client, Cases: []*Case{c}, Store: record.OpenStore(t.TempDir()), Patience: 20 * time.Second, Jobs: 1, Cwd: t.TempDir(), scripted: client}
	if c.Do != "" {
		r.Ask = func(*Case) {}
	}
	report, err := r.Run(t.Context())
	if len(report.Results) != 1 {
		t.Fatal(err)
	}
	return report.Results[0]
}

// TestClientStarts is about clients that start their agent not once.
func TestClientStarts(t *testing.T) {
	cases, err := Cases(Client)
	if err != nil {
		t.Fatal(err)
	}
	c := cases[slices.IndexFunc(cases, func(c *Case) bool { return c.ID == "order/waits" })]
	for _, tt := range []struct {
		name  string
		texts []string
		want  Outcome
		got   string
	}{
		{"never", nil, NotTried, "it did not start its agent"},
		{"to look, and to work", []string{"hello\n", goodClient}, OK, ""},
		{"to look twice", []string{"", ""}, NotTried, "it ended before that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := playTexts(t, c, tt.texts...); got.Outcome != tt.want || got.Got != tt.got {
				t.Errorf("%v %q, want %v %q", got.Outcome, got.Got, tt.want, tt.got)
			}
		})
	}
}

// TestDeafClient plays each case to a client that opens the connection, and then does nothing.
func TestDeafClient(t *testing.T) {
	cases, err := Cases(Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if got := playTexts(t, c, "hello\neof\n"); got.Outcome == OK && !slices.Contains(leaving, c.ID) {
				t.Errorf("ok: %q", got.Told)
			}
		})
	}
}

// leaving are cases in which it is right to leave.
var leaving = []string{"version/unknown"}
