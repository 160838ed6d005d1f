// Package demo plays a scripted editor and a scripted agent to each other through acptap,
// in separate processes, and reads back the recording. It needs no agent, network or
// files. The conversation is always the same, except for times and process IDs.
package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A Result is what a run of the demo recorded, reloaded and replayed.
type Result struct {
	conversation *trace.Conversation
	reload       reload
	sent         int           // messages of the client in the replay
	took         time.Duration // the replay
}

// Run records the conversation into the store, loads its session from a restarted agent,
// and replays the first tape. It returns an error if anything departs from the script. It
// calls seen with each message of the first recording. Run starts its own executable, which
// must be acptap.
func Run(ctx context.Context, store *record.Store, seen func(by wire.Direction, message []byte)) (*Result, error) {
	p := player{seen: seen}
	tape, err := p.record(ctx, store, Script(), nil, nil)
	if err != nil {
		return nil, err
	}
	var r Result
	if r.conversation, err = conversationOf(tape); err != nil {
		return nil, err
	}
	if r.reload, err = reloadSession(ctx, store); err != nil {
		return nil, err
	}
	if err := r.reload.check(r.conversation); err != nil {
		return nil, err
	}
	if r.sent, r.took, err = replayTape(ctx, tape, store.Dir()); err != nil {
		return nil, fmt.Errorf("replaying tape %s: %w", tape.ID(), err)
	}
	return &r, nil
}

// tapeOf returns the tape recorded by the proxy with that process ID.
func tapeOf(store *record.Store, pid int) (*record.Tape, error) {
	l, err := store.List()
	if err != nil {
		return nil, err
	}
	for _, info := range slices.Backward(l.Tapes) { // newest first, because process IDs are reused
		if info.Start.PID == pid {
			return store.Open(info.Tape)
		}
	}
	return nil, fmt.Errorf("process %d has recorded no tape", pid)
}

// conversationOf reads the session of the script from a tape.
func conversationOf(tape *record.Tape) (*trace.Conversation, error) {
	var t trace.Trace
	for f, err := range tape.Frames(1) {
		if err != nil {
			return nil, err
		}
		t.Add(&f)
	}
	for _, s := range t.Sessions {
		if s.ID == Session {
			return &s.Conversation, nil
		}
	}
	return nil, fmt.Errorf("tape %s does not have session %s", tape.ID(), Session)
}

// WriteText writes the recorded conversation and the results of reloading and replaying it.
func (r *Result) WriteText(w io.Writer, dir string, form trace.Text) error {
	if err := trace.WriteText(w, r.conversation, form); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `
All of this passed through acptap proxy, which recorded it in %s.
`, dir); err != nil {
		return err
	}
	if err := r.reload.writeText(w, form); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
Finally acptap replay agent took the agent's place, with the first tape. The same
client sent its %d messages and got the recorded answers, in %d ms.
`, r.sent, r.took.Milliseconds())
	return err
}
