// Package tapecheck judges tapes: it feeds frames from record to a conform.Checker. It
// knows which tapes start at the beginning of their connection, and where acptap changed
// frames.
package tapecheck

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Judge finds everything that is wrong on consecutive tapes of one agent: breaches of a
// conform.Checker's rules, stalls (rule WATCH), what session replays lost (ACP223), and
// servers that were never started (ACP231).
// It is for one goroutine.
type Judge struct {
	Checker *conform.Checker // knows the connection and the verdicts

	tapes   []*record.Tape
	part    reading.Part // of the last of them
	stalls  stalls
	servers nested.Join // of set-ups and of the servers' tapes alone
	ended   bool
	taken   int // number of the Checker's findings already handled
	found   []conform.Finding
}

// NewJudge returns a Judge that has not begun a tape. Its WATCH does not depend on the
// rules in o.
func NewJudge(o conform.Options) *Judge { return &Judge{Checker: conform.NewChecker(o), ended: true} }

// Begin begins the next tape. It ends the previous one if the caller has not done so, and
// returns the same errors as End.
func (j *Judge) Begin(p *reading.Part) error {
	err := j.End()
	if len(j.tapes) > 0 {
		j.Checker.Next(Beginning(&p.Info))
	}
	j.ended = false
	j.stalls.start(p.Tape.Clone(), len(j.tapes))
	j.servers.Next(p.Info.Tape, p.Info.Start.Time)
	j.tapes, j.part = append(j.tapes, p.Tape.Clone()), *p
	return err
}

// Add judges the next frame of the tape.
func (j *Judge) Add(f *dialect.Frame) {
	j.Checker.Add(f)
	if nested.TellsServers(f) {
		j.servers.Pass(f)
	}
	j.take(j.stalls.frame(f))
}

// End marks the tape as finished. It returns an error if replays on it cannot be compared
// with earlier tapes. A second call does nothing.
func (j *Judge) End() error {
	if j.ended {
		return nil
	}
	j.ended = true
	err := j.lossy()
	if failed := j.unstarted(); err == nil {
		err = failed
	}
	j.Checker.End()
	j.take(append(j.stalls.end(), restarted(j.part, len(j.tapes)-1)...))
	return err
}

func (j *Judge) take(hung []conform.Finding) {
	all := j.Checker.Findings()
	j.found = append(append(j.found, all[j.taken:]...), hung...)
	j.taken = len(all)
}

// New returns the findings since the last call, in the order in which they were made.
// They are final.
func (j *Judge) New() []conform.Finding {
	found := j.found
	j.found = nil
	return found
}

// Options returns a Checker's options for at least one tape; several must be consecutive.
func Options(tapes ...reading.Part) conform.Options {
	first := &tapes[0].Info
	o := conform.Options{Beginning: Beginning(first), Protocol: first.Connection.Protocol}
	for i := range tapes {
		info := &tapes[i].Info
		o.Between = o.Between || info.Live || info.Rules > 0 || info.Changed > 0
	}
	return o
}

// Beginning reports whether frame 1 of a tape is the first of its connection: a proxy
// recorded the tape, and wrote its version. An exported part of a tape keeps the version
// and the frame numbers, so it does not start with frame 1. A tape written by hand or by
// another tool may start anywhere.
func Beginning(i *record.Info) bool { return i.Start.Version != "" }
