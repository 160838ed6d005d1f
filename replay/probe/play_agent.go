package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// A part is what an agent has to play to a client that is tested. The client starts the
// agent, perhaps several times, and each time PlayAgent reads the part in a directory and
// writes there what it sees: its tape, and the outcome of each wait as it ends, because a
// client may kill its agent.
type part struct {
	Store, Name, Version string
	Command              []string // the client's
	Cwd                  string
	Dialect              dialect.Dialect
	Steps                string
	Patience, Limit      time.Duration
}

// A sighting is a line of what an agent writes about its client.
type sighting struct {
	Tape    string          `json:",omitempty"`
	Outcome *script.Outcome `json:",omitempty"` // without Step
}

// maxStarts limits how often a client may start the agent of a case.
const maxStarts = 50

func partFile(dir string) string { return filepath.Join(dir, "part.json") }

func sightingsFile(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%d.jsonl", n)) }

// write writes the part, and a program that plays it: command with dir as its last argument.
func (p *part) write(dir string, command []string) (program string, err error) {
	data, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(partFile(dir), data, 0o600)
	}
	if err != nil || len(command) == 0 {
		return "", err
	}
	program, text := filepath.Join(dir, "agent"), "#!/bin/sh\nexec"
	quote := func(s string) string { return " '" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	if runtime.GOOS == "windows" {
		program, text = program+".cmd", "@"
		quote = func(s string) string { return `"` + s + `" ` }
	}
	for _, word := range append(command[:len(command):len(command)], dir) {
		text += quote(word)
	}
	// A process that is forked meanwhile would hold the program open for writing, and then
	// it cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return program, os.WriteFile(program, []byte(text+"\n"), 0o700)
}

// PlayAgent plays the agent of a case to a client. dir is the last argument with which the
// Runner has it started. The error is an *proxy.ExitError if the case makes the agent end
// with a status.
func PlayAgent(ctx context.Context, dir string, in io.Reader, out, errOut io.Writer) error {
	data, err := os.ReadFile(partFile(dir))
	if err != nil {
		return err
	}
	var p part
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	steps, err := script.Parse("steps", p.Steps, p.Dialect, captures...)
	if err != nil {
		return err
	}
	saw, err := newSightings(dir)
	if err != nil {
		return err
	}
	defer saw.Close()
	recording, err := newRecording(record.OpenStore(p.Store), record.Start{
		Time: time.Now(), Command: p.Command, Cwd: p.Cwd, Name: p.Name, Version: p.Version, Proto: p.Dialect.Protocol().String(), PID: os.Getpid(),
	})
	if err != nil {
		return err
	}
	lines := json.NewEncoder(saw)
	if err := lines.Encode(sighting{Tape: recording.journal.Tape()}); err != nil {
		return err
	}
	player := &script.Player{
		Script: steps, Dialect: p.Dialect, Patience: p.Patience, Captures: script.Captures{"cwd": p.Cwd},
		Settled: func(o script.Outcome) {
			o.Step = nil
			_ = lines.Encode(sighting{Outcome: &o}) // what is missing was not tried
		},
	}
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	agent := proxy.Proxy{Peer: player.Agent(), In: in, Out: out, Err: errOut, Journal: recording.journal, Patience: grace}
	err = agent.Run(ctx)
	_, tapeErr := recording.tape()
	return cmp.Or(err, tapeErr)
}

// newSightings creates the file of the next start of the agent.
func newSightings(dir string) (*os.File, error) {
	for n := range maxStarts {
		f, err := os.OpenFile(sightingsFile(dir, n), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("the client has started its agent %d times", maxStarts)
}

// A start is what one start of the agent has seen.
type start struct {
	tape     string
	outcomes []script.Outcome // of all waits; those that have not ended are Untried
	ended    int              // how many have
}

func (s *start) complete() bool { return s.ended == len(s.outcomes) }

// cut gives the waits that have not ended the outcome that they have when a client leaves,
// because the client has killed its agent.
func (s *start) cut() {
	for i := s.ended; i < len(s.outcomes); i++ {
		switch o := &s.outcomes[i]; o.Step.Verb {
		case script.None:
			o.State, o.Got = script.Met, "it had ended"
		case script.Closes:
			o.State, o.Got = script.Met, "it closed the connection"
		case script.Exits, script.Shows:
		default:
			o.State, o.Got = script.Missed, "it ended before that"
		}
	}
}

// readStarts returns what the agents of a directory have seen so far.
func readStarts(dir string, steps *script.Script) (all []start, err error) {
	for n := range maxStarts {
		data, err := os.ReadFile(sightingsFile(dir, n))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		var s start
		var ended []script.Outcome
		for line := range bytes.Lines(data) {
			var one sighting
			if json.Unmarshal(line, &one) != nil {
				break // it is being written
			}
			if s.tape = cmp.Or(s.tape, one.Tape); one.Outcome != nil {
				ended = append(ended, *one.Outcome)
			}
		}
		for i := range steps.Steps {
			if step := &steps.Steps[i]; step.Waits(wire.AgentToClient) {
				o := script.Outcome{Got: "its agent ended before that"}
				if n := len(s.outcomes); n < len(ended) {
					o = ended[n]
				}
				o.Step = step
				s.outcomes = append(s.outcomes, o)
			}
		}
		s.ended = len(ended)
		all = append(all, s)
	}
	return all, nil
}
