package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/replay/script"
)

// A Trial is the outcome of a case with one of its scripted peers.
type Trial struct {
	Example  Example
	Want     Outcome // the outcome that its name promises
	Got      Result
	Findings []Finding // rule findings; there should be none
}

// Problem returns how the trial differs from what the peer's name promises, or "".
func (t *Trial) Problem() string {
	switch {
	case t.Got.Outcome != t.Want:
		says := t.Got.Says()
		if says != "" {
			says = ": " + says
		}
		return fmt.Sprintf("%v, not %v%s", t.Got.Outcome, t.Want, says)
	case len(t.Findings) > 0:
		f := t.Findings[0]
		return fmt.Sprintf("%s %s: %s", f.Rule.ID, f.Rule.Name, report.Said(&f.Finding.Finding))
	}
	return ""
}

// Try plays a case to its scripted peers with the settings of r. It returns a *syntax.Error if
// the script of a peer is invalid.
func Try(ctx context.Context, r *Runner, c *Case) (all []Trial, err error) {
	for _, x := range c.Examples {
		t, err := try(ctx, r, c, x)
		if err != nil {
			return all, err
		}
		all = append(all, *t)
	}
	return all, nil
}

func try(ctx context.Context, r *Runner, c *Case, x Example) (*Trial, error) {
	one, want, err := rehearsal(r, c, x)
	if err != nil {
		return nil, err
	}
	found, err := one.Run(ctx)
	if len(found.Results) != 1 {
		if err == nil {
			err = errors.New("it was not played")
		}
		return nil, fmt.Errorf("%s, section %s: %w", c.File, x.Name, err)
	}
	return &Trial{x, want, found.Results[0], found.Findings}, nil
}

// rehearsal returns a Runner with the settings of r that plays a case to one of its scripted
// peers, and the outcome expected of the case.
func rehearsal(r *Runner, c *Case, x Example) (one *Runner, want Outcome, err error) {
	want, d, err := c.expect(x)
	if err != nil {
		return nil, want, err
	}
	steps, err := script.Parse(c.File, x.Text, d)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			wrong.Line += x.Line
		}
		return nil, want, err
	}
	one = &Runner{
		Kind: r.Kind, Cases: []*Case{c}, Store: r.Store, Dialects: []dialect.Dialect{d}, Revision: r.Revision, Cwd: r.Cwd,
		Prompts: 100, Model: Spoken{}, Jobs: 1, Patience: 20 * time.Second, EchoServer: r.EchoServer,
		Call: map[string]any{"name": "add", "arguments": map[string]any{"a": json.Number("1")}},
	}
	if r.Kind == Client {
		one.scripted = &scriptedClient{dialect: d, scripts: []*script.Script{steps}}
	} else {
		one.Peer = scripted(steps, d)
	}
	if c.Do != "" {
		one.Ask = func(*Case) {} // the script does what a person would do
	}
	return one, want, nil
}

// expect returns the outcome and the dialect that the name of a scripted peer promises. A
// plain good means ok; a plain bad means the outcome of the case's tier.
func (c *Case) expect(x Example) (want Outcome, d dialect.Dialect, err error) {
	name, _, _ := strings.Cut(x.Name, ":") // a comment may follow
	words, d := strings.Fields(name), c.For[0]
	switch {
	case c.Tier == script.Tell:
		want = Told
	case words[0] == "bad":
		want = outcome(c.Tier)
	}
	var named Outcome
	if named.UnmarshalText([]byte(strings.Join(words[1:], " "))) == nil { // for example "not tried"
		return named, d, nil
	}
	for _, word := range words[1:] {
		if s, ok := script.Dialect(word); ok {
			d = s
		} else if named.UnmarshalText([]byte(word)) == nil {
			want = named
		} else {
			return want, d, syntax.At(c.File, c.Text, max(strings.Index(c.Text, "-- "+x.Name+" --"), 0), fmt.Sprintf("%q is neither an outcome nor a dialect", word), outcomeNames[:]...)
		}
	}
	return want, d, nil
}
