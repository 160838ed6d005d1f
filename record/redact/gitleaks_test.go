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

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

var update = flag.Bool("update", false, "ask gitleaks again")

const gitleaksFound = "testdata/gitleaks/found.jsonl"

// noSecrets are rules and texts for which gitleaks reports non-secrets.
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
	rules, found := make(map[string]bool), 0
	all := foundByGitleaks(t)
	for _, one := range all {
		rules[one.Rule] = true
		if n := strings.LastIndex(one.Text[one.From:one.To], "-----END"); n > 0 { // this line may stay
			one.To = one.From + n
		}
		out := textOf(redact.Frame(wire.Request, []byte(prompt(one.Text))))
		switch masked := maskedIn(one.Text, out)[one.From:one.To]; {
		case isMasked(masked):
			found++
		case noSecrets[one.Rule] == "" && noSecrets[one.Text] == "":
			t.Errorf("%s: of %q in %q is left %q", one.Rule, one.Text[one.From:one.To], one.Text, out)
		}
	}
	t.Logf("%d of %d findings of %d rules are found", found, len(all), len(rules))
}

// A finding is where gitleaks finds a secret in a text.
type finding struct {
	Rule, Text string
	From, To   int
}

// foundByGitleaks returns the stored output of the program in testdata/gitleaks.
func foundByGitleaks(t testing.TB) (all []finding) {
	t.Helper()
	file, err := os.Open(gitleaksFound)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one finding
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		backwards := []rune(one.Text)
		slices.Reverse(backwards)
		one.Text = string(backwards)
		all = append(all, one)
	}
	return all
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
