// Package drive plays the client of a tape to a live agent, and reports how the
// conversation differs from the recorded one.
//
// What it sends depends on the tape and on the order of the agent's messages, not on
// their timing. It reads and writes no files for the agent, runs no commands for it, and
// grants only permissions that were granted on the tape. It cannot make an agent repeat
// itself: if the agent does something different, the driver omits messages that no longer
// make sense, and notes that.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/internal/remap"
)

// A Client plays the client of a tape to a live agent. It sends each message of the
// recorded client once the answers that precede it have arrived, answers the agent's
// requests from the tape, and compares the two conversations. A request that the tape
// cannot answer gets an error.
//
// Every field but Tapes and Start.Command may be left zero.
type Client struct {
	Tapes   []*record.Tape // in recording order; each connection on them is one run of the agent
	Session string         // play only this session; empty: all

	// Start describes the new tapes: Command is the agent, and Cwd is the working
	// directory of its sessions. If Cwd is empty, that is the directory of this process,
	// in which the agent always runs.
	Start record.Start

	Store    *record.Store // keeps the new tapes; nil: nothing does
	Level    compare.Level // what to compare
	AsNew    bool          // create a loaded session afresh if it was not made on the tapes
	Patience time.Duration // how long the agent may be silent while the driver waits for something; 0 is 30 s
	Limit    time.Duration // limits one run of the agent; 0 is an hour
	Settle   time.Duration // how long to wait for more after the last answer, because many agents then send titles and commands; 0 is 1 s
	Grace    time.Duration // as proxy.Proxy.Patience, for an agent that does not exit on request
	Err      io.Writer     // receives the agent's stderr; nil: it goes to the tape only

	Interceptors []proxy.Interceptor // between the client and the agent; consecutive runs share them
}

// Errors that Client.Run returns.
var (
	ErrDiffers = errors.New("the conversations differ")
	ErrDialect = errors.New("the agent speaks another dialect than the tape")
	ErrUnmade  = errors.New("the tape does not begin where the session was made")
)

// A Report says how a Client's run went.
type Report struct {
	Tapes   []string     `json:"tapes" help:"the tapes that --save has made, one for each run of AGENT"`
	Notes   []string     `json:"notes" help:"what could not be played as recorded"`
	Stopped string       `json:"stopped,omitempty" help:"why not all was played, if it was not"`
	Diff    compare.Diff `json:"diff" help:"from the tape to the new run: level and hunks, as acptap diff --json writes them"`
}

// String returns the notes, and why the run stopped, as human-readable lines. Line feeds
// are its only control characters.
func (r *Report) String() string {
	var b strings.Builder
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", termtext.Line(note))
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "stopped: %s\n", termtext.Line(r.Stopped))
	}
	return b.String()
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Run plays all connections. The error is ErrDiffers if the conversations differ or
// something could not be played. Run returns the report even with an error. By the time
// Run returns, the agent and its whole process group have ended.
func (c *Client) Run(ctx context.Context) (*Report, error) {
	report := &Report{}
	plans, err := readPlans(c.Tapes, c.Session, c.AsNew)
	if err != nil {
		return report, err
	}
	store := c.Store
	if store == nil {
		dir, err := os.MkdirTemp("", "acptap-replay-")
		if err != nil {
			return report, err
		}
		defer os.RemoveAll(dir)
		store = record.OpenStore(dir)
	}
	start := c.Start
	if start.Cwd == "" {
		if start.Cwd, err = os.Getwd(); err != nil {
			return report, err
		}
	}
	known := remap.NewAgentMap(start.Cwd)
	for _, p := range plans {
		if err := c.play(ctx, p, known, store, start, report); err != nil {
			return report, err
		}
		if report.Stopped != "" {
			break
		}
	}
	if err := c.compare(store, known, report); err != nil {
		return report, err
	}
	if report.Stopped != "" || !report.Diff.Same() {
		return report, ErrDiffers
	}
	return report, nil
}

// play plays one connection.
func (c *Client) play(ctx context.Context, p *plan, known *remap.AgentMap, store *record.Store, start record.Start, report *Report) (err error) {
	journal, err := store.Record(start)
	if err != nil {
		return err
	}
	report.Tapes = append(report.Tapes, journal.Tape())
	defer func() {
		err = errors.Join(err, journal.Close())
		journal.Wait() // the store may be a temporary one
	}()
	errOut := c.Err
	if errOut == nil {
		errOut = io.Discard
	}
	agent := startAgent(ctx, proxy.Proxy{Command: start.Command, Err: errOut, Journal: journal, Interceptors: c.Interceptors, Patience: c.Grace})
	d := newDriver(p, known, agent, report)
	failed := d.play(ctx, limits{
		patience: cmp.Or(c.Patience, 30*time.Second),
		whole:    cmp.Or(c.Limit, time.Hour),
		settle:   cmp.Or(c.Settle, time.Second),
	})
	ended := agent.stop()
	var unstarted *proxy.StartError
	switch {
	case errors.As(ended, &unstarted):
		report.Stopped = ""
		return ended
	case failed == nil && d.agentEnded && ended != nil:
		report.Stopped += ": " + ended.Error()
	}
	return failed
}

// compare compares the recorded tapes with the new ones.
func (c *Client) compare(store *record.Store, known *remap.AgentMap, report *Report) error {
	if c.Level == compare.None {
		return nil
	}
	now := compare.Side{Session: known.Session(c.Session), AsNew: c.AsNew}
	for _, id := range report.Tapes {
		tape, err := store.Open(id)
		if err != nil {
			return err
		}
		now.Tapes = append(now.Tapes, tape)
	}
	var err error
	report.Diff, err = compare.Tapes(compare.Side{Tapes: c.Tapes, Session: c.Session, AsNew: c.AsNew}, now, c.Level)
	return err
}
