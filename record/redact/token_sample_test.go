package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// token returns a token of a form; ok is false if chance finds none.
func (r sampler) token(form *tokenForm) (whole, secret string, ok bool) {
	sets := []string{lettersAndDigits, "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "abcdefghijklmnopqrstuvwxyz0123456789"}
	for try := range 400 {
		chars := sets[try%len(sets)]
		n := form.min
		if form.max == 0 {
			n += r.IntN(8)
		}
		lead, rest := r.of(chars, form.lead), r.of(chars, n)
		shape := shapes[form.prefix]
		switch {
		case form.also.chars == "+/,:":
			shape = "|" + strings.Repeat("#", 16) + "," + strings.Repeat("#", 40)
		case form.min == 36 && form.max == 36 && form.also.chars == "-":
			shape = "|########-####-####-####-############"
		case len(form.prefix) == 2 && form.also.chars == "-_.":
			shape = "|" + strings.Repeat("#", 24) + "." + strings.Repeat("#", 6) + "." + strings.Repeat("#", 38)
		}
		if shape != "" {
			lead, rest, _ = strings.Cut(r.shaped(chars, shape), "|")
			lead = lead[:form.lead]
		}
		text := []byte(lead + form.prefix + rest)
		if !form.matches(text, len(lead), new(runs)) {
			continue
		}
		if form.lead > 0 {
			return string(text), string(text), true
		}
		return string(text), rest, true
	}
	return "", "", false
}

// shapes are what stands before a prefix, |, and what stands behind it, where that is more
// than characters of an alphabet. # is any of them, 0 a digit.
var shapes = map[string]string{
	"PRIVATE KEY BLOCK-----": "|\n\n" + strings.Repeat("#", 64),
	"Private-Lines: ":        "|1\r\n" + strings.Repeat("#", 64),
	"eyJ":                    "|" + strings.Repeat("#", 30) + ".eyJ" + strings.Repeat("#", 40) + "." + strings.Repeat("#", 43),
	"CBC,":                   "|" + strings.Repeat("#", 16) + "\n\n" + strings.Repeat("#", 64),
	"AKIA":                   "|" + strings.Repeat("#", 16),
	":AA":                    "0000000000|" + strings.Repeat("#", 33),
	"-us":                    strings.Repeat("#", 32) + "|00",
	"_mmk":                   "######_" + strings.Repeat("#", 29) + "|",
	"SG.":                    "|" + strings.Repeat("#", 22) + "." + strings.Repeat("#", 43),
	"ey":                     "|" + strings.Repeat("#", 30) + ".ey" + strings.Repeat("#", 40) + "." + strings.Repeat("#", 43),
	"sc_":                    authress,
	"ext_":                   authress,
	"scauth_":                authress,
	"authress_":              authress,
	"hawk.":                  "|" + strings.Repeat("#", 20) + "." + strings.Repeat("#", 20),
	"pat":                    "|" + strings.Repeat("#", 14) + "." + strings.Repeat("#", 64),
	"msh":                    "##########|" + strings.Repeat("#", 15) + "p1####jsn" + strings.Repeat("#", 9),
	"ASt":                    strings.Repeat("#", 76) + "+|" + strings.Repeat("#", 6) + "==",
	"dt0c01.":                "|" + strings.Repeat("#", 24) + "." + strings.Repeat("#", 64),
	"AAAAAAAAAAAAAAAAAAAAA":  "|A" + strings.Repeat("#", 60) + "%3D" + strings.Repeat("#", 20),
}

const authress = "|############.####.acc_############.########################################"

// shaped fills a shape.
func (r sampler) shaped(chars, shape string) string {
	var b strings.Builder
	for _, c := range shape {
		switch c {
		case '#':
			b.WriteString(r.of(chars, 1))
		case '0':
			b.WriteString(r.of("123456789", 1))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// surroundings are where a token stands.
var surroundings = []string{"%s", "it is %s.", `{"k":"%s"}`, "export X=%s\n", "X-Any: %s\r\n", "https://h/p?x=%s&y=1", `f(x, "%s")`, `"{\"k\":\"a\n%s\"}"`}

// A token of each form is found wherever it stands, and so are 1,000 in all.
func TestTokensFound(t *testing.T) {
	r := sampler{rand.New(rand.NewPCG(5, 6))}
	found, all := 0, 0
	for i := range tokenForms() {
		form := &tokenForms()[i]
		for n := range 4 {
			whole, secret, ok := r.token(form)
			if !ok {
				t.Errorf("%q: no token has this form", form.prefix)
				break
			}
			at := surroundings[(i+n)%len(surroundings)]
			text := fmt.Sprintf(at, whole)
			frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "x", "params": map[string]string{"text": text}})
			if err != nil {
				t.Fatal(err)
			}
			all++
			out := Frame(wire.Notification, frame)
			if quoted, _ := json.Marshal(secret); bytes.Contains(out, bytes.Trim(quoted, `"`)) {
				t.Errorf("%q is left in %s", whole, out)
				continue
			}
			if again := Frame(wire.Notification, out); !bytes.Equal(again, out) {
				t.Errorf("%s is redacted again to %s", out, again)
			}
			found++
		}
	}
	t.Logf("%d of %d are found", found, all)
}

// What only looks a little like a token is left alone.
func TestNoTokens(t *testing.T) {
	r := sampler{rand.New(rand.NewPCG(7, 8))}
	hex := "0123456789abcdef"
	var texts []string
	for i := range tokenForms() {
		form := &tokenForms()[i]
		if form.lead == 0 && strings.TrimLeft(form.prefix, lettersAndDigits) != "" {
			texts = append(texts, form.prefix, form.prefix+strings.Repeat("x", form.min), form.prefix+"your", "a"+form.prefix+strings.Repeat("x", form.min))
		}
	}
	for range 100 {
		texts = append(texts, r.of(hex, 40), r.of(hex, 64), "h1:"+r.of(lettersAndDigits+"+/", 43)+"=", r.shaped(hex, "########-####-####-####-############"), "AKIAIOSFODNN7EXAMPLE",
			"data:image/png;base64,"+r.of(lettersAndDigits+"+/", 2000), "var a="+r.of("abcdefgh", 6)+"."+r.of("abcdefgh", 9)+"(e,t)")
	}
	left := 0
	for _, text := range texts {
		s := search{text: []byte(text)}
		s.tokens()
		if at := s.spans(); len(at) > 0 {
			t.Errorf("%q is taken for a token at %v", text, at)
			continue
		}
		left++
	}
	t.Logf("%d of %d are left alone", left, len(texts))
}

// TokenForms is how many forms there are.
var TokenForms = len(tokenForms())

// SampleTokens returns tokens of all forms in turn, and what of each is secret.
func SampleTokens(n int, seed uint64) (whole, secrets []string) {
	r := sampler{rand.New(rand.NewPCG(seed, 0))}
	for i := 0; len(whole) < n; i++ {
		if token, secret, ok := r.token(&tokenForms()[i%len(tokenForms())]); ok {
			whole, secrets = append(whole, token), append(secrets, secret)
		}
	}
	return whole, secrets
}
