package conform

import (
	"bytes"
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A Finding is one breach of a rule.
type Finding struct {
	Rule     *Rule
	Clause   *Clause // the clause that it breaks
	Strength Strength
	Fault    Fault   // Client, Agent or Acptap
	Tape     int     // index of the tape, from 0; Checker.Next starts another
	Victim   *Victim // whom it hurts; nil unless the clause's strength is Hurts
	Yours    bool    // Victim is the peer on the tape
	Evidence

	Session string        // empty: none
	At      time.Duration // of the frame
	Method  string        // of a response, that of its request
	Update  string        // variant of session/update
}

// Evidence is what a rule says about a breach.
type Evidence struct {
	// Text says in one clause what the culprit did, such as "answered end_turn, 9 ms after
	// session/cancel (frame 58)". It starts with a verb in the past tense or a noun, and
	// names other frames as "frame N".
	Text string

	Path string // of the value in the message, as in dialect.Field; empty: the whole message
	Want string // what should be there; empty: stated in Text
	Got  string // what is there: JSON, or bytes as received

	Seq     uint64   // of the frame; 0: the step's frame
	Entry   int      // index in the batch, from 0; -1: no batch. The engine sets it unless Seq is set
	Because []uint64 // frames that prove it

	By       Fault    // who is at fault; Sender: as the rule says
	Of       *Call    // a request that the breach concerns; if it is incomplete, no one is accused
	In       *session // likewise a session other than the step's
	Strength Strength // upper limit; None: the clause's strength
	Hang     bool     // it was never answered
}

// A Report collects a rule's findings at a step.
type Report struct {
	judge  *judge
	step   *Step
	active *active
}

// Session returns the step's session if everything that the rule needs to judge it is
// known. Otherwise it records why not, and returns nil.
func (r *Report) Session() *session {
	if !r.possible(&Evidence{}) {
		return nil
	}
	return r.step.Session
}

// Tried records that the rule applies to this step: something that may be right
// or wrong.
func (r *Report) Tried() { r.judged(&Evidence{}) }

// Judge records that the rule applies to this step and, if broken is set, that
// the rule is broken as e says. Use it for rare steps, because e is built each time.
func (r *Report) Judge(broken bool, e Evidence) {
	r.Tried()
	if broken {
		r.Add(e)
	}
}

// Add records that the rule is broken at this step or at the frame that e names.
func (r *Report) Add(e Evidence) {
	if !r.judged(&e) {
		return
	}
	fault := r.fault(&e)
	if side := r.judge.side; side != Sender && fault != side {
		if !r.judge.checker.options.Own || r.step.Frame.Origin != wire.Injected && r.step.Frame.Origin != wire.Rewritten {
			return
		}
		fault = Acptap
	}
	c := r.judge.checker
	v := &c.verdicts[r.active.index]
	if v.found[fault]++; v.found[fault] > maxFindings {
		return
	}
	c.findings = append(c.findings, r.finding(e, fault))
}

func (r *Report) fault(e *Evidence) Fault {
	switch {
	case e.By != Sender:
		return e.By
	case r.active.rule.Fault != Sender:
		return r.active.rule.Fault
	case e.Of != nil && e.Seq == e.Of.Seq:
		return e.Of.From
	}
	return r.step.From
}

// judged reports whether everything that the rule needs is known. It records that the
// rule was tried, or why it was not.
func (r *Report) judged(e *Evidence) bool {
	if !r.possible(e) {
		return false
	}
	v := &r.judge.checker.verdicts[r.active.index]
	v.tried, v.later = true, false
	return true
}

// Undecided records that the rule applies to this step, and that a later step, or at
// the latest the end of the connection, may decide.
func (r *Report) Undecided() {
	if r.possible(&Evidence{}) {
		r.judge.checker.verdicts[r.active.index].later = true
	}
}

const endMissing = "the end of the connection is not on the tape"

// possible reports whether everything that the rule needs is known, and records what is
// not.
func (r *Report) possible(e *Evidence) bool {
	why := r.lacks(e)
	if v := &r.judge.checker.verdicts[r.active.index]; why != "" && v.open == "" {
		v.open = why
	}
	return why == ""
}

func (r *Report) finding(e Evidence, fault Fault) Finding {
	s := r.step
	f := Finding{
		Rule: r.active.rule, Clause: r.active.clause, Strength: r.active.clause.Strength, Fault: fault,
		Tape: r.judge.checker.tape, Session: cmp.Or(s.About.Session, s.sessionID()), At: s.Frame.At, Method: s.Method, Update: s.Update,
	}
	if e.Strength != None {
		f.Strength = min(f.Strength, e.Strength)
	}
	if r.active.clause.Strength == Hurts {
		f.Victim, f.Yours = r.active.rule.victim(fault, &s.Conn.Connection)
	}
	if e.Seq == 0 {
		e.Seq, e.Entry = s.Frame.Seq, s.Entry
	}
	if of := e.Of; of != nil && e.Seq == of.Seq {
		f.Session, f.At, f.Method, f.Update, e.Entry = of.Session, of.At, of.Method, "", of.Entry
	}
	if e.In != nil {
		f.Session = e.In.id
	}
	e.Got = string(bytes.ToValidUTF8([]byte(cut(e.Got)), []byte("\uFFFD")))
	f.Evidence = e
	f.Of, f.In = nil, nil
	return f
}

// maxGot limits the bytes of a value kept in a finding.
const maxGot = 400

func cut(s string) string { return wire.Clip(s, maxGot) }

// lacks returns why the tape lacks what the rule needs here; empty if it does not. It
// alone decides when not to accuse anyone; no rule checks for missing frames.
func (r *Report) lacks(e *Evidence) string {
	s := r.step
	if e.Of != nil && e.Of.lost != "" {
		return e.Of.lost
	}
	if e.In != nil && e.In.lacks() != "" {
		return e.In.lacks()
	}
	needs := r.active.rule.Needs
	if needs != Frame && s.Call != nil && s.Call.lost != "" {
		return s.Call.lost
	}
	switch needs {
	case Pair:
		if s.Frame.Kind == wire.Oversized {
			return "frame " + number(s.Frame.Seq) + " is too large to be read whole"
		}
	case Hello:
		return s.Conn.lacksHello()
	case Session:
		switch {
		case e.In != nil:
		case s.Session == nil:
			return "the set-up of the session is not on the tape"
		default:
			return s.Session.lacks()
		}
	case Connection:
		return s.Conn.lost
	case End:
		if !s.Conn.over {
			return endMissing
		}
	}
	return ""
}
