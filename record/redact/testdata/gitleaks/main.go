// Command gitleaks is the oracle of the package redact: it writes texts in which gitleaks
// finds secrets, and where in them. It is a module of its own, so that acptap depends on
// none of those that gitleaks needs; nothing builds it but who asks for new answers:
//
//	go test ./record/redact -run TestGitleaks -update
//
// The texts are those on stdin, a JSON string a line, and for each rule of gitleaks some
// that are made from its regular expression, put where secrets stand. A line of stdout is
// a finding; its text is written backwards, so that no scanner of repositories takes it
// for a secret that somebody lost.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/utils"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// A finding is a secret in a text.
type finding struct {
	Rule string `json:"rule"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"` // backwards
}

func main() {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		log.Fatal(err)
	}
	d.MaxDecodeDepth = 0 // what is in the text, not what it would be in other encodings
	out := json.NewEncoder(os.Stdout)
	write := func(found []finding) {
		for _, f := range found {
			if err := out.Encode(f); err != nil {
				log.Fatal(err)
			}
		}
	}
	for in := json.NewDecoder(os.Stdin); ; {
		var text string
		err := in.Decode(&text)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		write(findings(d, "", text))
	}
	for seed, id := range slices.Sorted(maps.Keys(d.Config.Rules)) {
		rule := d.Config.Rules[id]
		if rule.Regex == nil {
			log.Printf("%s finds files, not texts", id)
			continue
		}
		found, err := accepted(d, rule, seed)
		if err != nil {
			log.Fatalf("%s: %v", id, err)
		}
		write(found)
	}
}

// put puts a secret into its surroundings: some bring their own quotes, and JSON escapes.
func put(around, secret, keyword string) string {
	if strings.HasPrefix(secret, `"`) {
		around = strings.ReplaceAll(around, `"%[1]s"`, "%[1]s")
	}
	if strings.HasPrefix(around, "{") {
		quoted, err := json.Marshal(secret)
		if err != nil {
			log.Fatal(err)
		}
		secret = strings.Trim(string(quoted), `"`)
	}
	return strings.NewReplacer("%[1]s", secret, "%[2]s", keyword).Replace(around)
}

// surroundings are where a secret stands. Some rules ask for a word elsewhere in the text.
var surroundings = []string{"%[1]s", "export X=%[1]s\n", "It is %[1]s\nSo it is.", `{"k":"%[1]s"}`, "# of %[2]s\n%[1]s\n"}

// accepted returns what is found by a rule in samples that were made from it: in each of
// the surroundings that it can stand in, or assigned in some of the ways in which gitleaks
// tests its rules.
func accepted(d *detect.Detector, rule config.Rule, seed int) (all []finding, err error) {
	const tries, ways = 200, 5
	expression := rule.Regex.String()
	made, err := newSampler(expression)
	if err != nil {
		return nil, err
	}
	path := ""
	if rule.Path != nil {
		if path, err = sample(rule.Path.String()); err != nil {
			return nil, err
		}
	}
	around := surroundings
	if names, _, ok := strings.Cut(expression, `(?:[ \t\w.-]{0,20})`); ok { // of what the secret is assigned to
		made.secret()
		const filler = "{0,50}?"
		name, err := sample(names[strings.LastIndex(names, filler)+len(filler):])
		if err != nil {
			return nil, err
		}
		around = utils.GenerateSampleSecrets(name, "%[1]s")
		slices.Sort(around)
		for i := range ways {
			around[i] = around[(seed+i*len(around)/ways)%len(around)]
		}
		around = around[:ways]
	}
	for i, around := range around {
		for try := range tries {
			text := put(around, made.sample(i, try), rule.Keywords[0])
			found := findings(d, path, text)
			found = slices.DeleteFunc(found, func(f finding) bool { return f.Rule != rule.RuleID })
			if len(found) > 0 {
				all = append(all, found[0])
				break
			}
		}
	}
	if len(all) == 0 {
		log.Printf("%s accepts nothing that was made from it", rule.RuleID)
	}
	return all, nil
}

// findings returns what is found in the text of a file.
func findings(d *detect.Detector, path, text string) (all []finding) {
	for _, f := range d.Detect(detect.Fragment{Raw: text, FilePath: path}) {
		from := strings.Index(text, f.Secret)
		if from < 0 {
			log.Fatalf("%s: %q is not in %q", f.RuleID, f.Secret, text)
		}
		all = append(all, finding{f.RuleID, from, from + len(f.Secret), backwards(text)})
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Or(strings.Compare(a.Rule, b.Rule), cmp.Compare(a.From, b.From)) })
	return all
}

func backwards(text string) string {
	b := []rune(text)
	slices.Reverse(b)
	return string(b)
}
