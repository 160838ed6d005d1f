package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/record"
)

// A shelf is the place with the tapes of a store and the sessions on them.
type shelf struct {
	store *record.Store
	now   func() time.Time

	loaded  bool
	listing record.Listing
	err     error
	entries []shelved // what the lines of the last drawing are about
}

// shelved is a tape, or a session's stay on it.
type shelved struct {
	tape    record.Info
	session string // empty: the tape
	broken  error
}

// lookEvery is how often the store is looked at.
const lookEvery = time.Second

// watch lists the store again and again until ctx is done.
func (s *shelf) watch(ctx context.Context, put func(func())) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		listing, err := s.store.List()
		put(func() { s.listing, s.err, s.loaded = listing, err, true })
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// lines lists the tapes, the newest first, each with its sessions.
func (s *shelf) lines(width int) []line {
	s.entries = s.entries[:0]
	switch {
	case !s.loaded:
		return []line{{spans: []span{{dim, "reading…"}}, item: -1}}
	case s.err != nil:
		return []line{{spans: []span{{red, "The store cannot be read: " + piece(s.err.Error())}}, item: -1}}
	case len(s.listing.Tapes) == 0 && len(s.listing.Broken) == 0:
		return s.empty()
	}
	sessions := map[string][]record.SessionInfo{}
	for _, session := range s.listing.Sessions {
		for _, run := range session.Runs {
			sessions[run.Tape] = append(sessions[run.Tape], session)
		}
	}
	var lines []line
	for _, b := range s.listing.Broken {
		lines = append(lines, s.add(shelved{tape: record.Info{Tape: b.Tape}, broken: b.Err},
			[]span{{red, "✗ " + piece(b.Tape) + "  " + piece(b.Err.Error())}}))
	}
	tapes := slices.Clone(s.listing.Tapes)
	slices.SortFunc(tapes, func(a, b record.Info) int { return b.Start.Time.Compare(a.Start.Time) })
	for _, tape := range tapes {
		lines = append(lines, s.add(shelved{tape: tape}, s.tapeSpans(&tape, width)))
		for _, session := range sessions[tape.Tape] {
			lines = append(lines, s.add(shelved{tape: tape, session: session.ID}, sessionSpans(&session, tape.Tape)))
		}
	}
	return lines
}

func (s *shelf) add(e shelved, spans []span) line {
	s.entries = append(s.entries, e)
	return line{spans: spans, item: len(s.entries) - 1}
}

func (s *shelf) empty() []line {
	var lines []line
	for _, text := range []string{
		"There are no tapes in " + piece(s.store.Dir()) + " yet.",
		"",
		"To record one, put",
		"    acptap proxy --",
		"before the agent's command in the settings of your editor, and use it.",
		"What is recorded shows up here at once.",
		"",
		"acptap demo makes a tape without an editor and an agent.",
	} {
		lines = append(lines, line{spans: []span{{plain, text}}, item: -1})
	}
	return lines
}

func (s *shelf) tapeSpans(i *record.Info, width int) []span {
	flag, state := span{plain, "  "}, span{dim, stateText(*i)}
	if i.Live {
		flag, state = span{green, "● "}, span{green, "live"}
	}
	agent := cmp.Or(i.Start.Name, words(i.Connection.Agent, i.Connection.AgentVersion), strings.Join(i.Start.Command, " "))
	columns := min(max(width/5, 12), 32)
	row := []span{
		flag, {bold, pad(Cut(piece(agent), columns), columns)},
		{plain, fmt.Sprintf(" %8s ", age(s.now().Sub(i.Start.Time)))},
		{plain, fmt.Sprintf("%9s frames  ", grouped(int64(i.Frames)))}, state,
	}
	if i.Failed > 0 {
		row = append(row, span{red, fmt.Sprintf("  %s failed", grouped(int64(i.Failed)))})
	}
	if i.Junk > 0 {
		row = append(row, span{red, fmt.Sprintf("  %s junk", grouped(int64(i.Junk)))})
	}
	if i.Lost > 0 {
		row = append(row, span{red, "  " + byteSize(i.Lost) + " lost"})
	}
	return append(row, span{dim, "  " + piece(i.Start.Cwd) + "  " + i.Tape})
}

func sessionSpans(session *record.SessionInfo, tape string) []span {
	row := []span{{dim, "    └ "}, {plain, piece(cmp.Or(session.Title, session.Prompt, session.ID))}}
	n := 0
	for i, run := range session.Runs {
		if run.Tape != tape {
			continue
		}
		n = i + 1
		row = append(row, span{dim, fmt.Sprintf("  %s turns, %s frames", grouped(int64(run.Turns)), grouped(int64(run.Frames)))})
		if run.Failed > 0 {
			row = append(row, span{red, fmt.Sprintf("  %s failed", grouped(int64(run.Failed)))})
		}
	}
	if len(session.Runs) > 1 {
		row = append(row, span{dim, fmt.Sprintf("  run %d of %d", n, len(session.Runs))})
	}
	if session.Closed {
		row = append(row, span{dim, "  closed"})
	}
	return append(row, span{dim, "  " + piece(session.ID)})
}

// age returns how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
