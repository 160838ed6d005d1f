package replay

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Report says how a replay went.
type Report struct {
	Sent     int `json:"sent" help:"how many frames of the agent were sent"`
	Received int `json:"received" help:"how many messages of the client came"`
	Matched  int `json:"matched" help:"how many of these are on the tape"`
	Live     int `json:"live" help:"how many requests went to AGENT, as they are not on the tape"`

	Misses []Miss     `json:"misses" help:"what the client did that is not on the tape: miss; expected, the nearest message there (seq, method); differs (path, want, got); new, if AGENT could have served it; at most 100"`
	Unused []Expected `json:"neverCame" help:"recorded messages of the client that did not come (seq, method); at most 100"`
	Left   int        `json:"left" help:"how many did not come"`
	Notes  []string   `json:"notes" help:"other deviations, which did not matter; at most 100"`

	Error  string     `json:"error,omitempty" help:"why the tape could not be played, or not to its end"`
	Exit   *wire.Exit `json:"exit,omitempty" help:"how the recorded agent ended, if the tape has it"`
	Signal string     `json:"signal,omitempty" help:"the last signal passed on to the recorded agent before it ended"`

	Seed     uint64   `json:"seed,omitempty" help:"with rules, where their random numbers began"`
	NeverHit []string `json:"neverHit,omitempty" help:"rules that hit nothing"`

	fatal      bool // no answer can tell the client about a miss
	moreMisses int  // beyond maxLines
	moreNotes  int  // beyond maxLines

	missed func(Miss) // Agent.Missed
}

// maxLines limits the misses, the unused messages and the notes of a report.
const maxLines = 100

// Diverged reports whether the client left the tape.
func (r *Report) Diverged() bool { return len(r.Misses) > 0 || r.Left > 0 }

// Lacking reports whether the client left the tape only by asking for something that a
// live agent could have added.
func (r *Report) Lacking() bool {
	return len(r.Misses) > 0 && r.Left == 0 && r.moreMisses == 0 && !slices.ContainsFunc(r.Misses, func(m Miss) bool { return !m.New })
}

// String returns the report as lines of text, empty if there is nothing to report. Line
// feeds are its only control characters.
func (r *Report) String() string {
	var b strings.Builder
	for _, m := range r.Misses {
		fmt.Fprintf(&b, "miss: %s\n", termtext.Line(m.String()))
	}
	if r.moreMisses > 0 {
		fmt.Fprintf(&b, "miss: %d more\n", r.moreMisses)
	}
	for _, e := range r.Unused {
		fmt.Fprintf(&b, "never came: %s, frame %d\n", termtext.Line(e.Method), e.Seq)
	}
	if more := r.Left - len(r.Unused); more > 0 {
		fmt.Fprintf(&b, "never came: %d more\n", more)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", termtext.Line(n))
	}
	if r.moreNotes > 0 {
		fmt.Fprintf(&b, "note: %d more\n", r.moreNotes)
	}
	if len(r.NeverHit) > 0 {
		fmt.Fprintf(&b, "these rules never hit (seed %d): %s\n", r.Seed, termtext.Line(strings.Join(r.NeverHit, ", ")))
	}
	return b.String()
}

func (r *Report) note(format string, args ...any) {
	if len(r.Notes) == maxLines {
		r.moreNotes++
		return
	}
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Report) miss(m Miss) {
	if len(r.Misses) == maxLines {
		r.moreMisses++
		return
	}
	r.Misses = append(r.Misses, m)
	if r.missed != nil {
		r.missed(m)
	}
}

func (r *Report) unused(exp *expectedMessage) {
	r.Left++
	if len(r.Unused) < maxLines {
		method := exp.method
		if exp.kind == wire.Response {
			method = "answer to " + method
		}
		r.Unused = append(r.Unused, Expected{exp.seq, method})
	}
}

// EndAs ends this process the way an agent ended. If a signal killed the agent, EndAs
// sends the same signal to this process, provided that it can kill a Go program.
// Otherwise it returns the status with which to exit.
func EndAs(exit wire.Exit) (status int) {
	switch sig := syscall.Signal(exit.Code - 128); sig {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		if exit.Signal != sig.String() {
			break
		}
		signal.Reset(sig)
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
			time.Sleep(time.Second) // the signal arrives within this time
		}
	}
	return exit.Code
}
