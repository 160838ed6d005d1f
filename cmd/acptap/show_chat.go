package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/warning"
	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// chatLines is how much of a tool's output is shown in a conversation.
const chatLines = 20

// conversations shows the sessions of a subject as they were at the end.
func (s *show) conversations(w, stderr io.Writer, sub ref.Subject, width int, color bool) error {
	tr, starts, broken, err := traced(sub, stderr)
	if err != nil {
		return err
	}
	form := trace.Text{Width: width, Lines: chatLines, Color: color, Starts: starts}
	shown := 0
	for _, session := range tr.Sessions {
		if !s.wants(sub, session) {
			continue
		}
		if shown++; s.asJSON {
			err = writeConversation(w, session)
		} else {
			err = writeChat(w, session, shown == 1, form)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%s cannot be read; acptap doctor says more", count(uint64(broken), "part"))
	case shown == 0:
		warning.Print(stderr, "there is no conversation on it; to see its frames, leave out --chat")
		return errNo
	}
	return nil
}

// traced returns the trace of a subject, and when each of its tapes began.
func traced(sub ref.Subject, stderr io.Writer) (tr *trace.Trace, starts []time.Time, broken int, err error) {
	tr = &trace.Trace{}
	for _, p := range sub.Parts {
		info, err := p.Tape.Info()
		if err != nil {
			return nil, nil, 0, err
		}
		if t := info.Start.Time; !t.IsZero() {
			starts = append(starts, t.Local())
		}
		tr.Next(info.Connection)
		for f, err := range p.Tape.Frames(max(p.Run.First, 1)) {
			switch {
			case err != nil:
				broken++
				warning.Print(stderr, "%v", err)
			case sub.Has(p, &f):
				tr.Add(&f)
			}
		}
	}
	if len(starts) < len(sub.Parts) {
		starts = nil // a tape has no date: show times since the beginning of each
	}
	return tr, starts, broken, nil
}

// wants reports whether a session is to be shown. MCP sessions have no
// conversation.
func (s *show) wants(sub ref.Subject, session *trace.Session) bool {
	if session.Connection.Protocol == dialect.MCP || sub.Session != "" && session.ID != sub.Session {
		return false
	}
	if len(s.flags.Sessions) == 0 {
		return true
	}
	for _, id := range s.flags.Sessions {
		if strings.HasPrefix(session.ID, id) {
			return true
		}
	}
	return false
}

func writeChat(w io.Writer, session *trace.Session, first bool, form trace.Text) error {
	if !first {
		io.WriteString(w, "\n") // an error is returned by the next write
	}
	head := frametext.Lines{W: w, Width: form.Width, Color: form.Color}
	if err := head.Heading("session " + session.ID + " " + session.Title); err != nil {
		return err
	}
	return trace.WriteText(w, &session.Conversation, form)
}

// writeConversation writes {session, title?, cwd?, turns, entities, state} as one
// line.
func writeConversation(w io.Writer, session *trace.Session) error {
	head, err := json.Marshal(struct {
		Session string `json:"session"`
		Title   string `json:"title,omitempty"`
		Cwd     string `json:"cwd,omitempty"`
	}{session.ID, session.Title, session.Cwd})
	if err != nil {
		return err
	}
	c, err := json.Marshal(&session.Conversation)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s,%s\n", termtext.JSON(head[:len(head)-1]), termtext.JSON(c[1:]))
	return err
}
