package summary

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/trace"
)

// A Pause is a time without a turn.
type Pause struct {
	Took    seconds `json:"seconds"`
	Where   string  `json:"where"`             // before which turn of its session, or after the last one
	Session int     `json:"session,omitempty"` // number of that, of several with turns
	Limited bool    `json:"limited,omitempty"` // it began when the agent had used up what its model allows
}

// A pauses finds the longest pause. The zero value is ready to use.
type pauses struct {
	longest Pause
	open    int // turns, on the current tape
	since   time.Duration
	last    *trace.Turn // that ended then; nil: none on this tape
	session int
}

// next begins the next tape.
func (p *pauses) next(at time.Duration) { *p = pauses{longest: p.until(at)} }

// begin notes that a turn begins. Until setUp ended, nobody waited for the user.
func (p *pauses) begin(e *trace.Event, setUp time.Duration, session int) {
	if p.last == nil {
		p.since = max(p.since, setUp)
	}
	if p.open++; p.open == 1 && !e.Untimed {
		p.take(e.At-p.since, "before "+turnName(e.Turn), session)
	}
}

// end notes that a turn ends.
func (p *pauses) end(e *trace.Event, session int) {
	p.open, p.since, p.last, p.session = max(p.open-1, 0), e.At, e.Turn, session
}

func (p *pauses) take(took time.Duration, where string, session int) {
	if seconds(took) > p.longest.Took {
		p.longest = Pause{seconds(took), where, session, p.last != nil && usedUp().MatchString(tapetext.OutcomeText(p.last.Outcome))}
	}
}

// until returns the longest pause up to now.
func (p pauses) until(now time.Duration) Pause {
	if p.open == 0 && p.last != nil {
		p.take(now-p.since, "after "+turnName(p.last), p.session)
	}
	return p.longest
}

// usedUp matches an error that says that the user has used up what the model allows.
var usedUp = lazyregexp.New(`(?i)\b(?:usage|session|weekly|daily|hourly|spending) limit|\bout of (?:credits|quota)|\bquota (?:exceeded|reached)`)

// Limits on pauses that are told: the shortest one of all, and of those that took less than others
// together.
const (
	shownPause = 15 * time.Second
	longPause  = 5 * time.Minute
)

// PauseText says which part of the idle time was the longest, if that tells where it went.
func (s *Summary) PauseText() string {
	p := s.Time.Pause
	if p == nil || p.Took < seconds(shownPause) || p.Took < min(s.Time.Idle/3, seconds(longPause)) {
		return ""
	}
	text := p.Where
	if p.Took.String() != s.Time.Idle.String() {
		text = p.Took.String() + " of it " + text
	}
	if len(s.Parts) > 1 {
		text += fmt.Sprint(" of session ", p.Session)
	}
	if p.Limited {
		text += ", after the usage limit"
	}
	return text
}
