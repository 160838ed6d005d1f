package summary

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// leftOf returns the sentences of the last answer that say that something is not done, or what the user
// is to do: at most one of each; if there are none, the last sentence of an earlier answer that says
// what was not tried. They are the agent's words; which sentences these are, words in them tell.
func leftOf(list []Exchange) (left []string) {
	if len(list) == 0 || list[len(list)-1].Outcome.How != dialect.Done {
		return nil
	}
	notDone, forUser := "", ""
	for _, one := range sentences(list[len(list)-1].Answered) {
		switch {
		case caveatWords().MatchString(one), notDoneWords().MatchString(one) && !fineWords().MatchString(one) && !choiceWords().MatchString(one):
			notDone = one // the last one sums up
		case forUser == "" && forUserWords().MatchString(one):
			forUser = one
		}
	}
	for _, one := range []string{notDone, forUser} {
		if one != "" {
			left = append(left, one)
		}
	}
	for i := len(list) - 2; i >= 0 && left == nil; i-- {
		for _, one := range sentences(list[i].Answered) {
			if caveatWords().MatchString(one) {
				left = []string{one}
			}
		}
	}
	return left
}

// sentences returns the sentences of an answer, each in one line.
func sentences(text string) (list []string) {
	from := 0
	add := func(end int) {
		if one := strings.TrimPrefix(strings.Join(strings.Fields(text[from:end]), " "), "• "); one != "" {
			list = append(list, termtext.CutWords(termtext.Piece(one), leftColumns))
		}
		from = end
	}
	for _, at := range sentenceEnd().FindAllStringIndex(text, -1) {
		if !strings.HasSuffix(strings.TrimSpace(text[:at[0]]), ":") {
			add(at[1])
		}
	}
	add(len(text))
	return list
}

// leftColumns limits the columns of such a sentence.
const leftColumns = 160

var (
	// notDoneWords match what agents say of what they have not done, or what is still wrong.
	notDoneWords = lazyregexp.New(`(?i)\bI (?:(?:could|can|did|do|have|was)(?:n['’]t| not)|cannot|left|skipped|was unable)\b|\bis(?:n['’]t| not) (?:on|in) the\b|\b(?:flash|upload|deploy|install|push|download)(?:ing|ment|ation)? failed\b|\bstill (?:fail|too\b|not\b|no\b|above|below|over\b|under\b|missing|broken|red\b|open\b|wrong|need|has to|have to|differ|hang|crash|flaky|slow|only\b|at\b|one\b|\d)|\bbut not\b|\bnot (?:under|below|above|within) |\b(?:yet to|not yet|not there|unverified|untested|unresolved|remains?|blocked|incomplete)\b|\b(?:does|do|is|are|has|have|was|were)(?:n['’]t| not) (?:been )?(?:pass|work|tested|verified|fixed|done|possible|flashed|deployed|measured|run|included|covered|applied|reached|met|enough)`)
	// caveatWords match what they say that they have not tried.
	caveatWords = lazyregexp.New(`(?i)\bI (?:have(?:n['’]t| not)|did(?:n['’]t| not)) (?:yet )?(?:tried|try|tested|test|checked|check|verified|verify|measured|measure|run)\b|\bI(?:['’]ve| have)? (?:only (?:tried|tested|checked|ran|looked)|(?:tried|tested|checked|ran|looked at) only)\b|\b(?:untested|unverified)\b|^\W*not (?:yet )?(?:committed|tested|tried|run|deployed|pushed)\b`)
	// choiceWords match what would be.
	choiceWords = lazyregexp.New(`(?i)^\W*or\b|\b(?:would|if you)\b`)
	// fineWords match what such words say that is right.
	fineWords = lazyregexp.New(`(?i)\b(?:no|nothing) (?:\w+ )?remain|\bstill open(?:s|ed)\b`)
	// forUserWords match what agents ask of the user.
	forUserWords = lazyregexp.New(`(?i)\b(?:you(?:['’]ll)? (?:will )?(?:need|have) to|you (?:must|should)|please (?:check|run|review|confirm|grant|verify|test|let me|add|set|try|make|restart|install)|(?:someone|somebody) (?:with|has|must|needs|should)|your (?:call|decision|approval)|needs? (?:your|a human|someone|to be)|should I|do you want|would you like|let me know (?:if|which|whether|how))\b`)
)

// LeftTexts quote the sentences of the last answer that say that something is not done, or what the user
// is to do.
func (s *Summary) LeftTexts() (list []string) {
	for _, one := range s.Left {
		list = append(list, "“"+one+"”")
	}
	return list
}

// leftLine tells them, after a sign.
func (s *Summary) leftLine() []termtext.Span {
	if len(s.Left) == 0 {
		return nil
	}
	return line{termtext.Slow.Span("! "), termtext.Plain.Span(strings.Join(s.LeftTexts(), " "))}
}
