package screen

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// askInject asks for a method, lets the user write the frame, and sends it.
func (a *app) askInject() {
	if !a.reaches() {
		return
	}
	if a.View == nil {
		a.notify("there is no terminal for another program")
		return
	}
	a.ask("send to agent or client a: ", "agent ", func(text string) error {
		who, method, _ := strings.Cut(strings.TrimSpace(text), " ")
		to, ok := wire.ToPeer(who)
		if !ok || method == "" {
			return errors.New("name the receiver and a method, such as: agent session/cancel")
		}
		a.prompt = nil
		a.compose(to, a.template(to, method))
		return nil
	})
	protocol := a.protocol()
	a.prompt.complete = func(text string) (list []filter.Candidate) {
		for _, m := range dialect.Methods() {
			for _, to := range []wire.Direction{wire.ClientToAgent, wire.AgentToClient} {
				line := to.Receiver() + " " + m.Name
				if m.Protocol() == protocol && m.From.Sends(to) && strings.HasPrefix(line, text) {
					list = append(list, filter.Candidate{Text: line})
				}
			}
		}
		return list
	}
}

// protocol returns the protocol of the tape: MCP if its methods are those of MCP, otherwise
// ACP.
func (a *app) protocol() dialect.Protocol {
	left := nearby
	found := a.snapshot.Seek(1, 1, func(g *dialect.Frame) bool {
		left--
		_, acp := dialect.Lookup(dialect.AnyProtocol, g.Method)
		return left < 0 || acp && g.Method != dialect.Initialize
	})
	var f dialect.Frame
	if found == 0 || !a.snapshot.Frame(found, &f) {
		return dialect.ACP
	}
	m, _ := dialect.Lookup(dialect.AnyProtocol, f.Method)
	return m.Protocol()
}

// template returns a frame of a method to edit: the last one on the tape, otherwise a new one
// with the session.
func (a *app) template(to wire.Direction, method string) []byte {
	left := nearby
	found := a.snapshot.Seek(a.snapshot.Last, frameindex.Backward, func(g *dialect.Frame) bool {
		left--
		return left < 0 || g.Method == method && g.Dir == to && (g.Kind == wire.Request || g.Kind == wire.Notification)
	})
	if found != 0 && left >= 0 {
		if f, err := a.rows.Frame(found); err == nil && int64(len(f.Raw)) == f.Size {
			return f.Raw
		}
	}
	params := []byte("{}")
	if session := a.session(); session != "" {
		params = fmt.Appendf(nil, `{"sessionId":%s}`, wire.Quote(session))
	}
	if m, ok := dialect.Lookup(dialect.AnyProtocol, method); ok && m.Form == dialect.AsNotification {
		return wire.NewNotification(method, params)
	}
	return wire.NewRequest([]byte("0"), method, params)
}

// compose lets the user change a frame in $EDITOR, and sends it. Nothing is sent if the
// file is empty.
func (a *app) compose(to wire.Direction, line []byte) {
	typed, err := a.edit(indented(line))
	switch {
	case err != nil:
		a.fail(err)
		return
	case len(bytes.TrimSpace(typed)) == 0:
		a.notify("nothing is sent")
		return
	}
	one := oneLine(typed)
	if !wire.IsJSON(one) || !wire.Scan(one).MessageKind().IsMessage() {
		a.confirmSend("this is not a JSON-RPC message. Send it broken?", func() { a.send(to, one) }, func() { a.keepTyped(errors.New("nothing was sent"), typed) })
		return
	}
	a.send(to, one)
}

// send sends a line to one of the peers.
func (a *app) send(to wire.Direction, line []byte) {
	if env := wire.Scan(line); env.MessageKind() == wire.Request {
		a.notify("sent with an id of acptap; the answer will be on the tape")
	} else {
		a.notify("sent")
	}
	a.command(func(c Control) error {
		_, err := c.Inject(to, line)
		return err
	}, func(err error) { a.keepTyped(err, line) })
}

// resend sends the selected frame again.
func (a *app) resend() {
	if !a.reaches() {
		return
	}
	f := a.pane.Frame
	switch {
	case f.Seq == 0:
		a.notify(noFrame)
		return
	case f.Kind == wire.Mark || f.Dir == wire.AgentStderr:
		a.notify("only what client or agent said can be sent again")
		return
	case int64(len(f.Raw)) < f.Size:
		a.notify("this frame is too large to be sent again")
		return
	}
	a.ask("send frame "+a.timeline.Label(f.Seq)+" again, to: ", f.Dir.Receiver(), func(text string) error {
		to, ok := wire.ToPeer(strings.TrimSpace(text))
		if !ok {
			return errors.New("agent or client")
		}
		if f.Method == dialect.Prompt && f.Kind == wire.Request && a.inTurn(f.Session) {
			a.confirm("a turn of this session is running. Send the prompt?", func() { a.send(to, f.Raw) }, func() {})
			return nil
		}
		a.send(to, f.Raw)
		return nil
	})
}

// inTurn reports whether a session has an unanswered prompt.
func (a *app) inTurn(session string) bool {
	left := nearby
	last := a.snapshot.Seek(a.snapshot.Last, frameindex.Backward, func(g *dialect.Frame) bool {
		left--
		return left < 0 || g.Method == dialect.Prompt && g.Session == session && g.Kind == wire.Request
	})
	return last != 0 && left >= 0 && a.waits(last)
}
