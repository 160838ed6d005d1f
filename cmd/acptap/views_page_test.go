package main

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestHeadsOfKilled: the agent of this tape said its last word after 9 ms, and was killed
// after 83 s. Every head says so, and none says 9 ms.
func TestHeadsOfKilled(t *testing.T) {
	v := views{t: t, store: t.TempDir()}
	v.say("import", "testdata/views/killed-late.jsonl")
	page, err := os.ReadFile(v.pageOf("last"))
	if err != nil {
		t.Fatal(err)
	}
	_, head, _ := strings.Cut(string(page), "<body>")
	head, story, _ := strings.Cut(head, `<section id="story"`)
	if story == "" {
		t.Fatal("the page has no story")
	}
	line, _, _ := strings.Cut(v.say("summary"), "\n")
	session, _, _ := strings.Cut(v.say("summary", "s"), "\n")
	for view, said := range map[string]string{"summary": line, "summary of the session": session, "page": head} {
		for _, want := range []string{"agent died: SIGKILL", "1m23s"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in %s", view, want, said)
			}
		}
		if strings.Contains(said, "9 ms") {
			t.Errorf("%s: 9 ms in %s", view, said)
		}
	}
	var tape struct {
		Outcome        string
		Started, Ended time.Time
	}
	if err := json.Unmarshal([]byte(v.say("ls", "--json")), &tape); err != nil {
		t.Fatal(err)
	}
	if took := tape.Ended.Sub(tape.Started); tape.Outcome != "agent died: SIGKILL" || took != 83*time.Second {
		t.Errorf("ls: %s after %v", tape.Outcome, took)
	}
	for _, args := range [][]string{{"sessions", "--json"}, {"show", "--chat"}} {
		if said := v.say(args...); !strings.Contains(said, "agent died: SIGKILL") {
			t.Errorf("%q: %s", args, said)
		}
	}
	turn := v.table("stats", "--by", "turn", "--csv")[0]
	if turn["end"] != "agent died" || turn["waitedAgent"] != "82.996" {
		t.Errorf("stats: %s, waited %s s for the agent", turn["end"], turn["waitedAgent"])
	}
}

// TestSharesAgree: what the turns of a session waited for is the same in the head of the page
// and in stats.
func TestSharesAgree(t *testing.T) {
	v := views{t: t, store: t.TempDir()}
	v.say("import", "../../testdata/tapes/dialects/acp-v1.jsonl")
	page, err := os.ReadFile(v.pageOf("beds-1"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(page), `<section class="turn"`)
	shares := regexp.MustCompile(`(?m)^(agent|tool|client|user) .*?(\S+ \S+) +\S+ %$`).FindAllStringSubmatch(v.say("stats", "beds-1"), -1)
	if len(shares) != 4 {
		t.Fatalf("stats has %d shares", len(shares))
	}
	for _, share := range shares {
		word := map[string]string{"tool": "tools", "user": "you"}[share[1]]
		if want := cmp.Or(word, share[1]) + "</span> <b>" + share[2] + "</b>"; !strings.Contains(head, want) {
			t.Errorf("stats says %s %s, in the head of the page there is no %q", share[1], share[2], want)
		}
	}
}
