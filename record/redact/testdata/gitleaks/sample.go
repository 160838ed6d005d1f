package main

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// A sampler makes texts that match a regular expression.
type sampler struct {
	re   *syntax.Regexp
	rand *rand.Rand
}

// newSampler takes an expression in the case in which it is written: secrets have that,
// though most rules of gitleaks take any.
func newSampler(expression string) (*sampler, error) {
	expression = strings.NewReplacer("(?i)", "", "(?i:", "(?:").Replace(expression)
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return &sampler{re: re}, nil
}

// sample returns the same text for the same numbers.
func (s *sampler) sample(seed, try int) string {
	s.rand = rand.New(rand.NewPCG(uint64(seed), uint64(try)))
	var b strings.Builder
	s.write(&b, s.re)
	return b.String()
}

// sample returns a text that matches an expression.
func sample(expression string) (string, error) {
	s, err := newSampler(expression)
	if err != nil {
		return "", err
	}
	return s.sample(0, 0), nil
}

// secret narrows the sampler to the secret that is assigned, which is the last that the
// expression captures.
func (s *sampler) secret() {
	if c := lastCapture(s.re); c != nil {
		s.re = c
	}
}

func lastCapture(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, sub := range slices.Backward(re.Sub) {
		if c := lastCapture(sub); c != nil {
			return c
		}
	}
	return nil
}

func (s *sampler) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteByte(s.one(re))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // a dot that nobody escaped
		b.WriteByte('.')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			s.write(b, sub)
		}
	case syntax.OpAlternate:
		s.write(b, re.Sub[s.rand.IntN(len(re.Sub))])
	case syntax.OpQuest:
		s.repeat(b, re.Sub[0], 0, 1)
	case syntax.OpStar:
		s.repeat(b, re.Sub[0], 0, -1)
	case syntax.OpPlus:
		s.repeat(b, re.Sub[0], 1, 9)
	case syntax.OpRepeat:
		s.repeat(b, re.Sub[0], re.Min, re.Max)
	}
}

// repeat writes what may come several times. Of what may stand around a secret it writes as
// little as people do.
func (s *sampler) repeat(b *strings.Builder, re *syntax.Regexp, least, most int) {
	if most < 0 {
		most = least + 8
	}
	chars := characters(re)
	if least > 0 && (re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL) { // the text of a key
		re = &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune("09AZaz")}
	}
	switch {
	case least > 0 || chars == "" && most <= 9 || most == 1 && strings.Trim(chars, `"'`) != "":
		for range least + s.rand.IntN(min(most-least, 8)+1) {
			s.write(b, re)
		}
	case re.Op == syntax.OpAnyChar:
		b.WriteByte('\n')
	case strings.Contains(chars, " "):
		b.WriteByte(' ')
	}
}

// one returns a character of a class; a letter or digit, if it has any, most of the time.
func (s *sampler) one(re *syntax.Regexp) byte {
	chars := characters(re)
	words := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, chars)
	switch {
	case words != "" && s.rand.IntN(32) > 0:
		chars = words
	case chars == "":
		return '\n'
	case chars[0] == '"':
		return '"'
	}
	return chars[s.rand.IntN(len(chars))]
}

// characters returns what a class has of ASCII.
func characters(re *syntax.Regexp) string {
	var b strings.Builder
	for c := rune(' '); c < unicode.MaxASCII && re.Op == syntax.OpCharClass; c++ {
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= c && c <= re.Rune[i+1] {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}
