package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/script"
)

// meet makes the first contact in each dialect: it finds out which ones the peer speaks,
// what it offers, and how long it takes to answer.
func (r *Runner) meet(ctx context.Context) error {
	wanted := r.Dialects
	if len(wanted) == 0 {
		wanted = r.Kind.dialects()
	}
	var first *StartError
	for _, d := range wanted {
		meet := r.meetIn
		if r.Kind == Client {
			meet = r.meetClient
		}
		m, err := meet(ctx, d)
		var failed *StartError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &failed):
			if first == nil {
				first = failed
			}
			continue
		case err != nil:
			return err
		case m != nil:
			r.met[d] = m
			r.report.Dialects = append(r.report.Dialects, d)
		}
	}
	if len(r.met) == 0 {
		if first != nil {
			return first
		}
		return &StartError{Problem: "it speaks none of " + dialectList(wanted)}
	}
	return nil
}

func dialectList(list []dialect.Dialect) string {
	var names []string
	for _, d := range list {
		names = append(names, scopeName(d))
	}
	return strings.Join(names, ", ")
}

// hello is the script of the first contact, by protocol.
var hello = map[dialect.Protocol]string{
	dialect.ACP: "hello\nsession\n",
	dialect.MCP: "hello\n",
}

// meetIn makes the contact in one dialect. It returns nil if the peer speaks another one.
func (r *Runner) meetIn(ctx context.Context, d dialect.Dialect) (*meeting, error) {
	steps, err := script.Parse("hello", hello[d.Protocol()], d, captures...)
	if err != nil {
		return nil, err
	}
	s, err := r.newStage("hello", r.run+".hello", steps)
	if err != nil {
		return nil, err
	}
	defer s.close()
	player := s.player(r, steps, d, nil)
	began := time.Now()
	outcomes := player.Play(ctx)
	took := time.Since(began)
	tape, err := s.end()
	if err != nil {
		return nil, err
	}
	m := &meeting{captures: script.Captures{}, first: took}
	for _, name := range []string{"init", "new", "sid"} {
		if v, ok := player.Captures[name]; ok {
			m.captures[name] = v
		}
	}
	r.introduce(m, d)
	switch o := outcomes[0]; {
	case o.State == script.Met && !r.speaks(m, d):
		return nil, nil
	case o.State == script.Met:
		if len(outcomes) > 1 && outcomes[1].Code == authRequired {
			m.wall, r.report.Walled = true, true
		}
		if s.speaker != nil && s.speaker.Unasked() != "" && !m.wall {
			m.unasked, err = r.askModel(ctx, d, m)
		}
		return m, err
	case o.Code != "" || o.Line > 0: // it answered, but not in this dialect
		return nil, nil
	default:
		return nil, &StartError{problem(o, s.peer.err), tail(tape, 20)}
	}
}

// problem says why a peer could not be met.
func problem(o script.Outcome, ended error) string {
	var unstarted *proxy.StartError
	var exit *proxy.ExitError
	switch {
	case errors.As(ended, &unstarted):
		return unstarted.Error()
	case !o.Late && errors.As(ended, &exit):
		return fmt.Sprintf("it ended before it answered initialize: %v", exit)
	case !o.Late:
		return "it ended before it answered initialize"
	}
	return "it did not answer initialize: " + o.Got
}

// introduce notes what the peer says of itself.
func (r *Runner) introduce(m *meeting, d dialect.Dialect) {
	for _, key := range []string{"agentInfo", "info", "serverInfo", "clientInfo"} {
		if name, ok := text(m.captures, "init."+key+".name"); ok {
			version, _ := text(m.captures, "init."+key+".version")
			r.report.Name, r.report.Version = cmp.Or(r.report.Name, name), cmp.Or(r.report.Version, version)
		}
	}
	methods, _ := m.captures.Lookup("init.authMethods")
	list, _ := methods.([]any)
	for _, method := range list {
		object, _ := method.(map[string]any)
		if id, ok := object["id"].(string); ok && !slices.Contains(r.report.Login, id) {
			r.report.Login = append(r.report.Login, id)
		}
	}
}

func text(c script.Captures, path string) (string, bool) {
	v, _ := c.Lookup(path)
	s, ok := v.(string)
	return s, ok
}

// speaks reports whether the answer to initialize is one of the dialect.
func (r *Runner) speaks(m *meeting, d dialect.Dialect) bool {
	version, _ := m.captures.Lookup("init.protocolVersion")
	_, current := m.captures.Lookup("init.info")
	switch d {
	case dialect.ACPv1:
		return fmt.Sprint(version) == "1"
	case dialect.ACPv2:
		return fmt.Sprint(version) == "2" && current
	case dialect.ACPv2Early:
		return fmt.Sprint(version) == "2" && !current
	}
	return version != nil
}
