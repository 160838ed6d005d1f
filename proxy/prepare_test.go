package proxy_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// The agent starts while the journal is being prepared, and none of its output passes before
// that is done.
func TestPrepare(t *testing.T) {
	l := newLeash(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, s := &memory{}, &script{}
	c := begin(t, ctx, &proxy.Proxy{
		Command: role("stubborn", l.address),
		Prepare: func() (proxy.Journal, []proxy.Interceptor) {
			l.held(t) // the agent runs
			return m, chain(s)
		},
		Patience: 10 * time.Millisecond,
	})
	if got := c.line(t); got != "ready" {
		t.Errorf("got %q, want ready", got)
	}
	if !m.has("a2c wire ready") {
		t.Errorf("got %q in the journal, want what the agent said", m.log)
	}
	cancel()
	c.end(t, 137)
	if s.Do == nil {
		t.Error("the interceptor was not started")
	}
}

func TestPrepareFails(t *testing.T) {
	var out bytes.Buffer
	var c complaints
	p := &proxy.Proxy{
		Command: role("echo"), In: strings.NewReader("one\n"), Out: &out, Err: io.Discard, Complain: c.add,
		Prepare: func() (proxy.Journal, []proxy.Interceptor) { panic("boom") },
	}
	status(t, run(t.Context(), p), 0)
	if out.String() != "one\n" {
		t.Errorf("got %q, want what the client sent", out.String())
	}
	c.check(t, "recording: panic: boom (prepare_test.go:")
}

// If the agent cannot be started, the tape being prepared says so.
func TestPrepareForNobody(t *testing.T) {
	m := &memory{}
	p := &proxy.Proxy{
		Command: []string{"acptap-no-such-agent"},
		Prepare: func() (proxy.Journal, []proxy.Interceptor) { return m, nil },
	}
	if err := run(t.Context(), p); err == nil || m.code != 127 || len(m.log) != 1 {
		t.Errorf("got %v, and %q with code %d in the journal, want the error in both and 127", err, m.log, m.code)
	}
	m.check(t, wire.AgentToClient, "")
}
