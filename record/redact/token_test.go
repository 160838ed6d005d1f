package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// foundOneByOne returns what a search finds that tries one form after the other.
func foundOneByOne(t []byte) []span {
	var found []span
	for i := range t {
		var best *tokenForm
		for j := range tokenForms() {
			form := &tokenForms()[j]
			if (best == nil || len(form.prefix) > len(best.prefix)) && form.matches(t, i, new(runs)) {
				best = form
			}
		}
		if best == nil {
			continue
		}
		one := span{i + len(best.prefix), best.end(t, i+len(best.prefix), new(runs))}
		if best.lead > 0 {
			one.from = i - best.lead
		}
		found = append(found, one)
	}
	return joined(found)
}

func checkOnePass(t *testing.T, text []byte) {
	t.Helper()
	was := bytes.Clone(text)
	s := search{text: text}
	s.tokens()
	if got, want := s.spans(), foundOneByOne(text); !slices.Equal(got, want) {
		t.Errorf("%q: found %v, want %v", text, got, want)
	}
	if !bytes.Equal(text, was) {
		t.Errorf("%q was changed to %q", was, text)
	}
}

// A sampler makes tokens of a form at random.
type sampler struct{ *rand.Rand }

const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (r sampler) of(chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

// text returns texts of prefixes, and of what may stand behind them.
func (r sampler) text() []byte {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		form := &tokenForms()[r.IntN(len(tokenForms()))]
		b.WriteString(r.of(lettersAndDigits+form.also.chars, r.IntN(2)*form.lead))
		b.WriteString(form.prefix[:len(form.prefix)-r.IntN(2)*r.IntN(2)])
		b.WriteString(r.of(lettersAndDigits+form.also.chars, r.IntN(form.min+20)))
		b.WriteString([]string{"", " ", "\\n", "-", "/", "=", ":"}[r.IntN(7)])
	}
	return []byte(b.String())
}

// One pass finds the same as searching form by form.
func TestTokensInOnePass(t *testing.T) {
	r := sampler{rand.New(rand.NewPCG(1, 2))}
	for range 200 {
		checkOnePass(t, r.text())
	}
}

func FuzzTokens(f *testing.F) {
	r := sampler{rand.New(rand.NewPCG(3, 4))}
	for range 50 {
		f.Add(r.text())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 1<<12 {
			checkOnePass(t, text)
		}
	})
}

// Each row can be found, and each says something of its own.
func TestTokenForms(t *testing.T) {
	seen := make(map[string]bool)
	for _, form := range tokenForms() {
		id := fmt.Sprint(form.prefix, form.lead, form.min)
		if seen[id] || form.max > 0 && form.max < form.min || form.lead == 0 && form.min < 8 || len(form.prefix) < 2 {
			t.Errorf("%q: of %d to %d", form.prefix, form.min, form.max)
		}
		seen[id] = true
	}
	t.Logf("%d forms", len(tokenForms()))
}
