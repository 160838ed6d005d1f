package summary

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Limited says how long turns waited because the model was busy.
type Limited struct {
	What  string  `json:"what"` // rate limited, overloaded, or trying again
	Took  seconds `json:"seconds"`
	Count int     `json:"count"`
}

// text says how much of a time that was.
func (l *Limited) text() string {
	text := l.What
	if l.Took > 0 {
		text = l.Took.String() + " of it " + text
	}
	if l.Count > 1 {
		text += ", " + termtext.Times(l.Count)
	}
	return fmt.Sprintf(" (%s)", text)
}

// LimitedText says how much of the time that turns waited for the agent its model was busy, or
// nothing.
func (s *Summary) LimitedText() string {
	l := s.Time.Limited
	if l == nil || l.Took == 0 {
		return ""
	}
	text := "the agent was " + l.What + " for " + l.Took.String()
	if l.Count > 1 {
		text += ", " + termtext.Times(l.Count)
	}
	return text
}

// A busyModel measures the time from the first word that the model is busy to the next message
// of the agent. The zero value is ready to use.
type busyModel struct {
	limited Limited
	waits   bool          // since from
	from    time.Duration // since the tape began
	last    time.Duration // when it was last busy
}

// together is the time within which several lines tell of the same attempt.
const together = time.Second

// busy notes that the model was busy. A connection that broke has been of no use since the last
// message was heard.
func (b *busyModel) busy(text string, at, heard time.Duration) {
	what := busyWord(text)
	l := &b.limited
	if l.Count == 0 || at-b.last >= together {
		l.Count++
	}
	if l.What == "" || l.What == tryingAgain {
		l.What = what
	}
	if b.last = at; !b.waits {
		b.waits, b.from = true, at
		if what == networkDown {
			b.from = heard
		}
	}
}

// failed notes that a turn ended in an error, perhaps because the model was busy. It waited for
// the model since its beginning, unless it had output before.
func (b *busyModel) failed(e *trace.Event) {
	text := tapetext.OutcomeText(e.Turn.Outcome)
	if e.Turn.Outcome.How != dialect.Errored || e.Untimed || !retryLine().MatchString(text) {
		return
	}
	b.busy(text, e.At, e.At)
	if e.Turn.Output == 0 {
		b.from = min(b.from, e.Began)
	}
}

// over notes that the agent goes on.
func (b *busyModel) over(at time.Duration) {
	if b.waits {
		b.waits = false
		b.limited.Took += seconds(max(at-b.from, 0))
	}
}

// forget notes that what comes next is another wait.
func (b *busyModel) forget() { b.waits, b.last = false, 0 }

const (
	tryingAgain = "trying again"
	networkDown = "retrying the network"
)

var (
	rateWord = lazyregexp.New(`(?i)\b429\b|rate.limit|too many requests`)
	netWord  = lazyregexp.New(`(?i)stream disconnected|reconnect\w*|connection (?:reset|refused|error|closed|lost)|\bECONN\w+|\bETIMEDOUT\b|network error|error sending request|retrying [^(]*\(?\d+/\d+`)
	loadWord = lazyregexp.New(`(?i)\b529\b|overloaded`)
)

// busyWord says why the model was busy.
func busyWord(text string) string {
	switch {
	case rateWord().MatchString(text):
		return "rate limited"
	case loadWord().MatchString(text):
		return "overloaded"
	case netWord().MatchString(text):
		return networkDown
	}
	return tryingAgain
}
