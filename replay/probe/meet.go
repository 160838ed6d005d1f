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

// meet makes the first contact in each dialect. It finds out which dialects the peer speaks,
// what it offers, and how fast it answers. It tries a program that cannot be started only
// once.
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
			if failed.unstarted {
				return failed
			}
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

// hello is the script of the first contact, by protocol. Its last step tests the request that
// later steps send to check that the peer is still alive.
var hello = map[dialect.Protocol]string{
	dialect.ACP: "hello\n> @new session/new\n< tell result to new {\"$as\":\"new\",\"sessionId\":{\"$as\":\"sid\"}}\n> @asked _acptap/hello\n",
	dialect.MCP: "hello\n> @asked ping\n",
}

// meetIn makes the first contact in d. It returns nil if the peer speaks another dialect.
func (r *Runner) meetIn(ctx context.Context, d dialect.Dialect) (*meeting, error) {
	text := fmt.Sprintf("%s< tell within %v answer to asked\n", hello[d.Protocol()], cmp.Or(min(r.Patience, 10*time.Second), 10*time.Second))
	steps, err := script.Parse("hello", text, d, captures...)
	if err != nil {
		return nil, err
	}
	s, err := r.newStage("hello", r.run+".hello", steps)
	if err != nil {
		return nil, err
	}
	defer s.close()
	player := s.player(r, steps, d, nil)
	began, took := time.Now(), time.Duration(0)
	player.Settled = func(o script.Outcome) {
		if o.Step.Name != "asked" {
			took = time.Since(began)
		}
	}
	outcomes := player.Play(ctx)
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
	o := outcomes[0]
	switch {
	case o.State == script.Met && !r.speaks(m, d):
		return nil, nil
	case o.State == script.Met:
		if len(outcomes) > 1 && outcomes[1].Code == authRequired {
			m.wall, r.report.Walled = true, true
		}
		m.deaf = outcomes[len(outcomes)-1].State == script.Missed
		if s.speaker != nil && s.speaker.Unasked() != "" && !m.wall {
			m.unasked, err = r.askModel(ctx, d, m)
		}
		return m, err
	case o.Code != "" || o.Line > 0: // it answered, but in another dialect
		return nil, nil
	}
	failed := &StartError{Problem: problem(o, s.peer.err), Stderr: tail(tape, 20), unstarted: errors.As(s.peer.err, new(*proxy.StartError))}
	if failed.unstarted { // the tape is empty
		if _, err := r.Store.Delete(tape.ID()); err != nil {
			return nil, err
		}
	}
	return nil, failed
}

// problem describes why acptap could not make contact with the peer.
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

// introduce records what the peer says about itself.
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

// speaks reports whether the peer's answer to initialize chooses d.
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
