package script_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/script"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestPlayers plays client and agent of each file in testdata to each other, and compares
// what both saw with its section want.
func TestPlayers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := map[string]string{}
			for _, f := range a.Files {
				text[f.Name] = string(f.Data)
			}
			got := play(t, text["client"], text["agent"])
			if *update {
				for i, f := range a.Files {
					if f.Name == "want" {
						a.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != text["want"] && !*update {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// play returns the outcomes of the client's waits, and then of the agent's.
func play(t *testing.T, client, agent string) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	player := func(file, text string, side wire.Direction, in io.Reader, out io.WriteCloser) *script.Player {
		s, err := script.Parse(file, text, dialect.ACPv1)
		if err != nil {
			var wrong *syntax.Error
			errors.As(err, &wrong)
			t.Fatalf("%v\n%s", err, wrong.Caret())
		}
		return &script.Player{
			Script: s, Dialect: dialect.ACPv1, Side: side, Out: out, In: script.Lines(in, ctx.Done()),
			Captures: script.Captures{"cwd": "/w", "servers": []any{}}, Patience: 10 * time.Second,
		}
	}
	c := player("client", client, wire.ClientToAgent, toClient, fromClient)
	a := player("agent", agent, wire.AgentToClient, toAgent, fromAgent)
	a.Patience = 0
	saw := make(chan []script.Outcome)
	go func() {
		all := a.Play(ctx)
		a.Serve(ctx)
		fromAgent.Close()
		toAgent.Close()
		saw <- all
	}()
	all := c.Play(ctx)
	fromClient.Close()
	go io.Copy(io.Discard, toClient)
	var b strings.Builder
	for _, o := range append(all, <-saw...) {
		fmt.Fprintf(&b, "%d %s: %s %s", o.Step.Line, o.Step.Text, [...]string{"untried", "met", "missed"}[o.State], o.Got)
		if o.Line > 0 {
			fmt.Fprintf(&b, " (line %d)", o.Line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"hello\nfoo", "x:2:1: \"foo\" is no step: a message begins with > or <; expected one of hello"},
		{"  hello", "x:1:1: a step begins at the beginning of a line"},
		{"> session/new {\"a\":", "x:1:15: not JSON: unexpected EOF"},
		{"> session/new {\"a\":\"${b}\"}", "x:1:15: nothing before this line captures b"},
		{"< result to foo", "x:1:13: no request before this line is called @foo"},
		{"< result {\"$rx\":1}", "x:1:10: $rx is no matcher: expected one of $any"},
		{"< result {\"$re\":\"(\"}", "x:1:10: $re is followed by a regular expression: error parsing regexp"},
		{"< within 3 result", "x:1:10: want a time up to 10m"},
		{"> error x", "x:1:9: want the number of an error, or an object"},
		{"> session/cancel @x", "x:1:18: not JSON"},
		{"> @x session/cancel", "x:1:6: a notification has no answer"},
		{"> raw x", "x:1:7: want a quoted text"},
		{"> bytes 0 1ms \"\"", "x:1:9: want the number of bytes in a piece"},
		{"> many 20000 session/new", "x:1:8: want many COUNT METHOD, up to 10000"},
		{"< no session/update for 1s {", "x:1:28: not JSON"},
		{"> pad session/new 2GiB", "x:1:19: want pad METHOD SIZE"},
		{"on fs/read_text_file maybe", "x:1:4: want on METHOD result"},
		{"signal STOP", "x:1:8: no such signal; expected one of TERM"},
		{"servers two", "x:1:9: \"two\" is no kind of server; expected one of echo"},
		{"exits soon", "x:1:7: want a time"},
		{"eof now", "x:1:5: too much here"},
		{"hello {\"protocolVersion\":", "x:1:7: not JSON"},
		{strings.Repeat("eof\n", 201), "x:201:1: a script has up to 200 steps"},
		{strings.Repeat("#\n", 33<<10), "x:32769:1: a script has up to 65536 bytes"},
	} {
		_, err := script.Parse("x", tt.text, dialect.ACPv1)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%.40q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
