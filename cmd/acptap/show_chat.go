package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// These limit the lines of a tool's output that a conversation shows, and those in
// Markdown, where long ones are folded.
const (
	chatLines  = 20
	issueLines = 200
)

// conversations shows the final state of a subject's sessions.
func (s *show) conversations(ctx context.Context, w, stderr io.Writer, sub ref.Subject, width int, color bool) error {
	cli.SaveMemory()
	h, err := historyOf(ctx, sub, s.format == "md", stderr)
	if err != nil {
		return err
	}
	form := trace.Text{Width: width, Lines: chatLines, Color: color, Starts: h.starts}
	shown := 0
	for _, session := range h.Trace.Sessions {
		if !s.wants(sub, session) {
			continue
		}
		c := &session.Conversation
		if s.turn > 0 {
			var found bool
			if c, found = c.Only(s.turn); !found {
				continue
			}
		}
		shown++
		form.Below = func(e *trace.Entity) []termtext.Span { return h.Calls.Lines(session.ID, e) }
		switch {
		case s.asJSON:
			err = writeConversation(w, session, c, h.Calls.Told(session), h.Uncalled(session))
		case s.format == "md":
			form.Lines = issueLines
			err = writeIssue(w, session, c, shown == 1, form)
		default:
			err = writeChat(w, session, c, h.Uncalled(session), shown == 1, form)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case h.broken > 0:
		return unreadable(h.broken)
	case shown == 0 && s.turn > 0:
		cli.Warn(stderr, "there is no turn %d on it; acptap summary says how many there are", s.turn)
		return cli.ErrNo
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

// writeIssue writes a conversation as Markdown.
func writeIssue(w io.Writer, session *trace.Session, c *trace.Conversation, first bool, form trace.Text) error {
	if !first {
		io.WriteString(w, "\n") // the next write returns the error
	}
	n := &session.Connection
	who := termtext.Dotted(termtext.Spaced(cmp.Or(n.AgentTitle, n.Agent), n.AgentVersion), termtext.Spaced(n.Client, n.ClientVersion), n.Spoken())
	if _, err := fmt.Fprintf(w, "%s\n", trace.MarkdownLine(termtext.Dotted(who, "session "+session.ID))); err != nil {
		return err
	}
	return trace.WriteMarkdown(w, c, form)
}

func writeChat(w io.Writer, session *trace.Session, c *trace.Conversation, uncalled []nested.Uncalled, first bool, form trace.Text) error {
	if !first {
		io.WriteString(w, "\n") // the next write returns the error
	}
	head := frametext.Lines{W: w, Width: form.Width, Color: form.Color}
	if err := head.Heading("session " + session.ID + " " + session.Title); err != nil {
		return err
	}
	for i := range uncalled {
		u := &uncalled[i]
		line := termtext.Dim.Span(u.Line())
		if u.Failed() {
			line.Style = termtext.Failure
		}
		if _, err := io.WriteString(w, termtext.SpansText([]termtext.Span{line}, form.Color)+"\n"); err != nil {
			return err
		}
	}
	return trace.WriteText(w, c, form)
}

// writeConversation writes {session, title?, cwd?, nested?, uncalled?, turns, entities, state} as one
// line.
func writeConversation(w io.Writer, session *trace.Session, c *trace.Conversation, calls []nested.Told, uncalled []nested.Uncalled) error {
	head, err := json.Marshal(struct {
		Session  string            `json:"session"`
		Title    string            `json:"title,omitempty"`
		Cwd      string            `json:"cwd,omitempty"`
		Nested   []nested.Told     `json:"nested,omitempty"`
		Uncalled []nested.Uncalled `json:"uncalled,omitempty"`
	}{session.ID, session.Title, session.Cwd, calls, uncalled})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s,", termtext.JSON(head[:len(head)-1])) // the next write returns the error
	if err := c.WriteMembers(w); err != nil {
		return err
	}
	_, err = io.WriteString(w, "}\n")
	return err
}

// A history is what happened on the tapes of a subject.
type history struct {
	reading.History
	starts []time.Time // of each tape; nil if any has no date
	broken int         // unreadable parts
}

// historyOf reads a subject, without its secrets if clean is set. It reports unreadable
// parts to stderr.
func historyOf(ctx context.Context, sub ref.Subject, clean bool, stderr io.Writer) (*history, error) {
	r, err := sub.Reader(false, sub.Parts...)
	if err != nil {
		return nil, err
	}
	r.Clean = clean
	h := &history{}
	for _, p := range r.Agents() {
		if t := p.Info.Start.Time; !t.IsZero() {
			h.starts = append(h.starts, t.Local())
		}
	}
	if len(h.starts) < len(sub.Parts) {
		h.starts = nil // times are then relative to the start of each tape
	}
	for e := range r.Read(ctx) {
		if h.Take(e); e.Err != nil {
			h.broken++
			cli.Warn(stderr, "%v", e.Err)
		}
	}
	h.End()
	return h, ctx.Err()
}
