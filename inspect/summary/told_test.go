package summary

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// TestClosing: of a long answer the first sentences are told, and the last one.
func TestClosing(t *testing.T) {
	for _, tt := range []struct {
		text string
		rows int
		want []string
	}{
		{"It works.", 3, []string{"It works."}},
		{"One two three. Four five six. Not done.", 3, []string{"One two three.", "Four five six.", "Not done."}},
		{"One two three. Four five six. Seven eight. Not done: it.", 3, []string{"One two three.", "Four five six. …", "Not done: it."}},
		{"One two three. Four five six. Seven eight nine.", 2, []string{"One two three.", "Four five six. …"}},
		{"第一句话在这里。第二句话在这里。第三句话在这里。没有做完。", 3, []string{"第一句话在这里。", "第二句话在这里…", "没有做完。"}},
		{"One two three. Four five six. Seven eight nine. Cut …", 3, []string{"One two three.", "Four five six.", "Seven eight …"}},
	} {
		if got := Closing(tt.text, tt.rows, 16); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestTitles: a call is named by what tells it apart.
func TestTitles(t *testing.T) {
	for _, tt := range []struct{ title, command, want string }{
		{"Read main.go", "", "Read main.go"},
		{"Shell", "flutter test test/goldens", "flutter test test/goldens"},
		{"Shell: npx vitest run (all)", "npx vitest run", "npx vitest run"},
		{"Run the tests", "go test ./...", "Run the tests"},
		{"Measure", "sound", "Measure"},
		{"JAVA_HOME=$HOME/jbr A='b c' ./gradlew test", "", "./gradlew test"},
		{"Bash", "cd /home/x && MIX_ENV=test mix test", "mix test"},
	} {
		if got := toolTitle(tt.title, tt.command); got != tt.want {
			t.Errorf("%q that runs %q: got %q, want %q", tt.title, tt.command, got, tt.want)
		}
	}
}

// TestShorts: failures are told in a few words, those that read the same once.
func TestShorts(t *testing.T) {
	tool := func(title, why string) Failure {
		return Failure{Kind: dialect.FailedTool, What: title + because(why), why: why, tried: attempt{title: title, command: shell.Parse(title)}}
	}
	for _, tt := range []struct {
		failed     Failure
		text, more string
	}{
		{tool("mix compile --warnings-as-errors", "error: module Multi is not available"), "mix compile", " (module Multi is not available) ×2"},
		{tool("mix test", "Assertion with == failed · 318 tests, 3 failures"), "mix test", " (3 failures) ×2"},
		{tool("Edit lib/praxis/notifications.ex", ""), "Edit notifications.ex", " ×2"},
		{tool("npx tsc --noEmit 2>&1 | tail", "src/a.tsx(2,28): error TS2304: Cannot find name 'x'."), "npx tsc", " (Cannot find name 'x'.) ×2"},
		{tool("mix precommit", "** (Mix) mix format failed"), "mix precommit", " (mix format failed) ×2"},
		{tool("dotnet test", "[xUnit.net 00:00:04.12]     Auction.Tests.Race [FAIL]"), "dotnet test", " (Auction.Tests.Race [FAIL]) ×2"},
		{tool("uv run pytest tests [current working directory /srv/app] (runs the tests)", "2 failed, 5 passed in 0.4s"), "uv run pytest tests", " (2 failed) ×2"},
	} {
		if got := Shorts([]Failure{tt.failed, tt.failed}); len(got) != 1 || got[0].Text != tt.text || got[0].More != tt.more {
			t.Errorf("%q: got %v", tt.failed.What, got)
		}
	}
}

// TestCutCommand: of a chain of commands the last ones stay, without what keeps only a part of the
// output.
func TestCutCommand(t *testing.T) {
	for _, tt := range []struct {
		title   string
		columns int
		want    string
	}{
		{"go test ./...", 20, "go test ./..."},
		{"./autogen.sh && ./configure -q && make distcheck 2>&1 | tail -30", 30, "… && make distcheck"},
		{"npm run build 2>&1 | head -n 5", 20, "npm run build"},
		{"a very long title of a single call", 20, "a very long title …"},
	} {
		if got := cutCommand(tt.title, tt.columns); got != tt.want {
			t.Errorf("%q in %d columns: got %q, want %q", tt.title, tt.columns, got, tt.want)
		}
	}
}

// TestLeft: of an answer the sentences are quoted that say what is not done, and what the user is to do;
// not what is well, and not what would be.
func TestLeft(t *testing.T) {
	done := dialect.Outcome{How: dialect.Done}
	for _, tt := range []struct {
		answers []string
		want    []string
	}{
		{[]string{"Fixed. All 12 tests pass, and the page still works."}, nil},
		{[]string{"The job is fast again.\n- Still wrong: TestX fails.\n\nOr we drop it, which would be faster still. Which do you want?"}, []string{"Still wrong: TestX fails.", "Which do you want?"}},
		{[]string{"It is smaller, but not under 1 GB. The app still imports in it."}, []string{"It is smaller, but not under 1 GB."}},
		{[]string{"I could not load them. Someone with SYSADMIN has to run:\n\n`grant x`"}, []string{"I could not load them.", "Someone with SYSADMIN has to run: grant x"}},
		{[]string{"Done. I have not tried it in Excel.", "Added to the README."}, []string{"I have not tried it in Excel."}},
		{[]string{"It still fails.", "Now it passes."}, nil},
	} {
		var list []Exchange
		for _, text := range tt.answers {
			list = append(list, Exchange{Outcome: done, Answered: termtext.Unmarked(text)})
		}
		if got := leftOf(list); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.answers, got, tt.want)
		}
	}
	if got := leftOf([]Exchange{{Outcome: dialect.Outcome{How: dialect.Cancelled}, Answered: "It still fails."}}); got != nil {
		t.Errorf("of a turn that was cancelled: got %q", got)
	}
}
