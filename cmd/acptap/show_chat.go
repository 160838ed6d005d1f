package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// chatLines limits how many lines of a tool's output a conversation shows.
const chatLines = 20

// conversations shows the sessions of a subject as they were at the end.
func (s *show) conversations(ctx context.Context, w, stderr io.Writer, sub ref.Subject, width int, color bool) error {
	h, err := historyOf(ctx, sub, stderr)
	if err != nil {
		return err
	}
	form := trace.Text{Width: width, Lines: chatLines, Color: color, Starts: h.starts}
	shown := 0
	for _, session := range h.Trace.Sessions {
		if !s.wants(sub, session) {
			continue
		}
		if shown++; s.asJSON {
			err = writeConversation(w, session, h.Calls.Told(session))
		} else {
			form.Below = func(e *trace.Entity) []termtext.Span { return h.Calls.Lines(session.ID, e) }
			err = writeChat(w, session, shown == 1, form)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case h.broken > 0:
		return unreadable(h.broken)
	case shown == 0:
		cli.Warn(stderr, "there is no conversation on it; to see its frames, leave out --chat")
		return cli.ErrNo
	}
	return nil
}

// wants reports whether to show a session. MCP sessions have no conversation.
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
		io.WriteString(w, "\n") // the next write returns the error
	}
	head := frametext.Lines{W: w, Width: form.Width, Color: form.Color}
	if err := head.Heading("session " + session.ID + " " + session.Title); err != nil {
		return err
	}
	return trace.WriteText(w, &session.Conversation, form)
}

// writeConversation writes {session, title?, cwd?, nested?, turns, entities, state} as one
// line.
func writeConversation(w io.Writer, session *trace.Session, calls []nested.Told) error {
	head, err := json.Marshal(struct {
		Session string        `json:"session"`
		Title   string        `json:"title,omitempty"`
		Cwd     string        `json:"cwd,omitempty"`
		Nested  []nested.Told `json:"nested,omitempty"`
	}{session.ID, session.Title, session.Cwd, calls})
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
