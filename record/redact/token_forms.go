package redact

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed token_forms.txt
var tokenFormsText string

// tokenForms returns the forms of token_forms.txt. It reads them on first use: most
// commands never do.
var tokenForms = sync.OnceValue(func() []tokenForm {
	var forms []tokenForm
	alphabets := map[string]alphabet{"": {}}
	checks := maps.Clone(tokenChecks)
	for n, line := range strings.Split(tokenFormsText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if check, ok := strings.CutPrefix(line, "check "); ok {
			name, expr, _ := strings.Cut(check, " ")
			checks[name] = regexp.MustCompile("(?s)" + expr).Match
			continue
		}
		form, also, err := parseTokenForm(line, checks)
		if err != nil {
			panic(fmt.Sprintf("redact: token_forms.txt:%d: %v", n+1, err)) // embedded
		}
		if _, known := alphabets[also]; !known {
			alphabets[also] = alphabet{len(alphabets), also}
		}
		form.also = alphabets[also]
		forms = append(forms, form)
	}
	return forms
})

// parseTokenForm reads one line of token_forms.txt. It returns the characters of the
// alphabet separately.
func parseTokenForm(line string, checks map[string]func([]byte) bool) (form tokenForm, also string, err error) {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return form, "", err
	}
	form.prefix, _ = strconv.Unquote(quoted)
	rest, _, _ := strings.Cut(line[len(quoted):], "  #")
	size, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if lead, length, ok := strings.Cut(size, "+"); ok {
		if form.lead, err = strconv.Atoi(lead); err != nil {
			return form, "", err
		}
		size = length
	}
	least, most, bounded := strings.Cut(size, "-")
	if form.min, err = strconv.Atoi(least); err != nil {
		return form, "", err
	}
	if bounded {
		if form.max, err = strconv.Atoi(most); err != nil {
			return form, "", err
		}
	}
	if value, ok := strings.CutPrefix(rest, "also="); ok {
		if quoted, err = strconv.QuotedPrefix(value); err != nil {
			return form, "", err
		}
		also, _ = strconv.Unquote(quoted)
		rest = strings.TrimSpace(value[len(quoted):])
	}
	if names, ok := strings.CutPrefix(rest, "check="); ok {
		for name := range strings.SplitSeq(names, ",") {
			check := checks[strings.TrimSpace(name)]
			if check == nil {
				return form, "", fmt.Errorf("there is no check %s", name)
			}
			form.checks = append(form.checks, check)
		}
		rest = ""
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		return form, "", fmt.Errorf("%q is not understood", rest)
	}
	return form, also, nil
}
