package redact_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

var update = flag.Bool("update", false, "ask gitleaks again")

const gitleaksFound = "testdata/gitleaks/found.jsonl"

// noSecrets are rules and texts by which gitleaks finds what is none.
var noSecrets = map[string]string{
	"flutterwave-public-key":   "it is public",
	"sourcegraph-access-token": "any 40 hex digits, as those of a commit, if sgp_ stands elsewhere in the text",
	"key=0123456789abcdef":     "it does not say that this lets anybody in",
}

// What gitleaks 8.30.1 finds in our samples, and in others made from its own rules, is
// found here too. The program in testdata/gitleaks has written it down.
func TestGitleaks(t *testing.T) {
	if *update {
		askGitleaks(t)
	}
	file, err := os.Open(gitleaksFound)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rules, all, found := make(map[string]bool), 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one struct {
			Rule     string
			From, To int
			Text     string
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		backwards := []rune(one.Text)
		slices.Reverse(backwards)
		text := string(backwards)
		out := gjson.GetBytes(redact.Frame(wire.Request, []byte(prompt(text))), "params.prompt.0.text").Str
		all++
		rules[one.Rule] = true
		switch masked := maskedIn(text, out)[one.From:one.To]; {
		case isMasked(masked):
			found++
		case noSecrets[one.Rule] == "" && noSecrets[text] == "":
			t.Errorf("%s: of %q in %q is left %q", one.Rule, text[one.From:one.To], text, out)
		}
	}
	t.Logf("%d of %d findings of %d rules are found", found, all, len(rules))
}

// maskedIn tells of each byte of a text whether a placeholder stands in its place.
func maskedIn(text, out string) []bool {
	masked := make([]bool, len(text))
	pieces := strings.Split(out, redact.Placeholder)
	at := 0
	for i, kept := range pieces {
		from := at + strings.Index(text[at:], kept)
		if i > 0 && i == len(pieces)-1 {
			from = len(text) - len(kept)
		}
		for ; at < from; at++ {
			masked[at] = true
		}
		at += len(kept)
	}
	return masked
}

// isMasked reports whether nothing is left of a secret but what stands before it, which
// gitleaks counts among it, and a few characters behind it.
func isMasked(secret []bool) bool {
	const prefix, behind = len("http://hooks.slack.com/workflows/"), len("-----")
	from := slices.Index(secret, true)
	left := 0
	for _, masked := range secret[max(0, from):] {
		if !masked {
			left++
		}
	}
	return from >= 0 && from <= prefix && left <= behind
}

// askGitleaks runs gitleaks over our samples.
func askGitleaks(t *testing.T) {
	t.Helper()
	var corpus, out bytes.Buffer
	in := json.NewEncoder(&corpus)
	texts, _ := redact.SampleTokens(2*redact.TokenForms, 11)
	for _, marked := range slices.Concat(secretTexts, secretFrames, openTexts, openFrames) {
		text, _ := secretsIn(marked)
		texts = append(texts, text)
	}
	for _, text := range texts {
		if err := in.Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = "testdata/gitleaks"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &corpus, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gitleaksFound, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
