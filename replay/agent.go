// Package replay plays the agent of a recorded tape to a client.
//
// It treats a tape as a conversation, not as a list of frames: concurrent sessions and
// calls have no order relative to each other, and ids, directories and speed may differ
// from the recording. A client that diverges from the tape gets an error, or the agent
// exits after a timeout; the client never waits forever.
//
// The package cannot answer what was never recorded unless it has a real agent for that.
// It does not check what the client does with the messages.
//
// An [Agent] plays tapes. A [Cassette] is a file that is replayed, and recorded if its
// [Mode] says so. Package drive plays the client's side instead, and package compare finds
// the differences between two conversations.
package replay

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// An Agent plays the agent of a tape to a client. Every field but Tapes may be left
// zero.
//
// It sends the recorded frames, with the ids that this client chooses and with paths
// mapped to the directories of its sessions. Its output depends only on the tape and on
// the order of the client's messages, unless a Live agent takes part. A request that is
// not on the tape gets an error at once. Patience limits the wait for a message that
// never comes.
//
// An Agent reads the tape as it plays, so a long tape needs no more memory than a short
// one. If one session waits for its client while another session's next frames come later
// on the tape, the Agent reads ahead and keeps about 190 bytes of each frame in between
// (BenchmarkReadAhead). It compares only the beginning of messages longer than a
// mebibyte, and does not rewrite paths in strings longer than that.
type Agent struct {
	// Tapes may hold several connections. A run plays one of them: the first that
	// contains the session that the client sets up first.
	Tapes      []*record.Tape
	Session    string // play only this session; empty: all
	Connection int    // play only this connection, counted from 1; 0: see Tapes

	Matching Matching
	Pace     Pace
	Patience time.Duration // how long to wait for a client message during a turn; 0 is 5 s
	Partial  bool          // the client may omit messages
	Cwd      string        // the directory of the process; empty: the real one

	// Live is the command of a real agent. It starts when the client asks for something
	// that is not on the tape: a session, an MCP call, or more in a recorded session,
	// which the agent then resumes or receives as a transcript. It sees only those
	// messages, and Journal records them as the client sees them.
	//
	// Without a Journal, a session continues live from the first request that is not on
	// the tape. With one, it does so only after the client has sent everything that the
	// tape has of the session, because a replay plays the added part last.
	Live    []string
	Journal *record.Recorder // may be nil

	// Watcher is notified of the frames as they are played. It may be nil, and must be
	// nil with Live.
	Watcher Watcher

	// Passed is called for each line that passes: seq is its frame on the tape, or 0 if
	// it has none. It may be nil.
	Passed func(dir wire.Direction, seq uint64)

	// Missed is called for each miss in the report, before the client gets the error. It
	// may be nil.
	Missed func(Miss)
}

var errNoTape = errors.New("no tape to replay")

// patience is the default of Agent.Patience.
const patience = 5 * time.Second

// leaveAfter limits how long a write may continue after ctx has ended.
const leaveAfter = time.Second

// Run plays until the client closes in, ctx ends, or the agent on the tape exits. It then
// closes in if that is an io.Closer. The error is ErrDiverged if the client left the
// tape; the report says how. Run does not print the report. A read from in cannot be
// interrupted, so the reading goroutine may outlive Run until in delivers something or
// ends. So may a write to out or errOut that still blocks a second after ctx has ended.
func (a *Agent) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	if len(a.Tapes) == 0 {
		return Report{}, errNoTape
	}
	opt := *a
	if opt.Cwd == "" {
		opt.Cwd, _ = os.Getwd() // a deleted directory has no name
	}
	if opt.Patience == 0 {
		opt.Patience = patience
	}
	report := Report{missed: a.Missed}
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

// Check returns the error with which Run would refuse to play.
func (a *Agent) Check() error {
	if len(a.Tapes) == 0 {
		return errNoTape
	}
	p, err := (&connectionChooser{agent: a}).first(&Report{})
	if err != nil {
		return err
	}
	p.recording.close()
	return nil
}

// finish writes the rest of the stderr, and reports the messages that never came.
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

// leftovers reports the client's messages that were read from the tape and never came.
func (p *player) leftovers() {
	var missing []*expectedMessage
	seen := make(map[*expectedMessage]bool)
	collect := func(q *queue) {
		for _, exp := range q.messages {
			if exp != nil && !exp.came && exp.required && !seen[exp] {
				seen[exp] = true
				missing = append(missing, exp)
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
	slices.SortFunc(missing, (*expectedMessage).compare)
	for _, exp := range missing {
		p.report.unused(exp)
	}
}
