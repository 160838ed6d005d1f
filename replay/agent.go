// Package replay plays the agent of a tape to a client. A tape is taken as a
// conversation, not as a list: what sessions and calls do beside each other has
// no order, and ids, directories and speed may be others than when it was
// recorded. Nothing hangs on what does not come.
//
// A Cassette is a file that is replayed, and recorded where its mode says so.
// Package drive plays the client's side, compare tells what differs between two
// conversations. What methods mean, the package asks of proxy/dialect.
package replay

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record"
)

// An Agent plays the agent of a tape to a client. The zero value of each field
// but Tapes is usable.
//
// What it sends depends on the tape and on the order of the client's messages
// only: the recorded frames as they were, but for the ids that the client makes,
// and for paths in the directories of a session, which are those of now. A
// message that the tape does not have gets an error at once; where only waiting
// can tell that something does not come, Patience ends it.
//
// Of the tape no more is in memory than what is sent now, however long it is.
// But where one session waits for its client, and what comes next of another one
// stands further on, the tape is read up to there, and some 190 bytes are kept of
// each frame between (BenchmarkReadAhead). Of frames longer than a mebibyte only
// the beginning is compared, and paths in strings longer than that stay as they
// were.
type Agent struct {
	// Tapes may hold several connections, and one run plays one: the first on
	// which the client finds the session that it sets up first.
	Tapes      []*record.Tape
	Session    string // only what is on them of it; empty: all
	Connection int    // the number of a connection from 1; 0: as said

	Matching Matching
	Pace     Pace
	Patience time.Duration // 0 is 5 s
	Partial  bool          // it is no miss if the client leaves something out
	Cwd      string        // the directory of the process; empty: the real one

	// Live is the command of a real agent. It is started when the client wants
	// a session that the tape does not have, or a call of MCP, and told of that
	// and what belongs to it only. Journal is told what it says and hears.
	Live    []string
	Journal proxy.Journal // may be nil
}

// patience is how long a client is waited for that owes something other than an
// answer.
const patience = 5 * time.Second

// leaveAfter is how long a write may take when ctx has ended.
const leaveAfter = time.Second

// Run plays until the client closes in, ctx ends or the agent ends on the tape,
// and closes in if it is an io.Closer. The error is ErrDiverged if the report
// has a miss; what it says is the caller's to tell. A read of in cannot be
// interrupted: the goroutine that does it may outlive Run, until in gives
// something or ends. So may one whose write to out or errOut blocks when ctx has
// ended.
func (a *Agent) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	if len(a.Tapes) == 0 {
		return Report{}, errors.New("no tape to replay")
	}
	opt := *a
	if opt.Cwd == "" {
		opt.Cwd, _ = os.Getwd() // one that was deleted has no name
	}
	if opt.Patience == 0 {
		opt.Patience = patience
	}
	var report Report
	choice := &connectionChooser{agent: &opt}
	p, err := choice.first(&report)
	if err != nil {
		return report, err
	}
	if len(opt.Live) > 0 {
		errOut = &sharedWriter{w: errOut}
	}
	inbox := newInbox(in, make(chan struct{}, 1), len(opt.Live) > 0)
	defer inbox.close()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(leaveAfter, func() { close(inbox.left) })
	})
	defer stop()
	p.inbox = inbox
	p.out, p.errOut = newOutbox(out, p.inbox), newOutbox(errOut, p.inbox)
	p = p.play(ctx, choice)
	defer p.recording.close()
	if p.live != nil {
		p.live.close(opt.Patience)
	}
	p.finish(opt.Partial)
	if c, ok := in.(io.Closer); ok {
		c.Close()
	}
	if report.Diverged() {
		return report, ErrDiverged
	}
	return report, nil
}

// finish ends the replay: what follows of stderr is written, and what of the
// client's messages never came is noted.
func (p *player) finish(partial bool) {
	if !partial {
		p.leftovers()
	}
	p.draining = true
	for len(p.otherLines.pending) > 0 {
		p.release(p.otherLines)
	}
	left := p.report.Left
	for p.readNext() {
	}
	if partial {
		p.report.Unused, p.report.Left = nil, left
	}
	p.flush()
}

// leftovers notes the messages that were read and have not come.
func (p *player) leftovers() {
	var cues []*expectedMessage
	seen := make(map[*expectedMessage]bool)
	collect := func(q *queue) {
		for _, exp := range q.messages {
			if exp != nil && !exp.came && exp.required && !seen[exp] {
				seen[exp] = true
				cues = append(cues, exp)
			}
		}
	}
	collect(&p.main.expected)
	for _, l := range p.sessions {
		collect(&l.expected)
	}
	for _, l := range p.alive {
		collect(&l.expected)
	}
	for _, q := range p.waiting {
		collect(q)
	}
	slices.SortFunc(cues, (*expectedMessage).compare)
	for _, exp := range cues {
		p.report.unused(exp)
	}
}
