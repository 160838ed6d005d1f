package wire_test

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// Each name is parsed back to its value; stored formats depend on the numbers of the names.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		value fmt.Stringer
		back  encoding.TextUnmarshaler
		name  string
	}{
		{wire.ClientToAgent, new(wire.Direction), "c2a"},
		{wire.AgentToClient, new(wire.Direction), "a2c"},
		{wire.AgentStderr, new(wire.Direction), "err"},
		{wire.Wire, new(wire.Origin), "wire"},
		{wire.Withheld, new(wire.Origin), "withheld"},
		{wire.Injected, new(wire.Origin), "injected"},
		{wire.Rewritten, new(wire.Origin), "rewritten"},
		{wire.Invalid, new(wire.Kind), "invalid"},
		{wire.Request, new(wire.Kind), "request"},
		{wire.Response, new(wire.Kind), "response"},
		{wire.Notification, new(wire.Kind), "notification"},
		{wire.Batch, new(wire.Kind), "batch"},
		{wire.Oversized, new(wire.Kind), "oversized"},
		{wire.Stderr, new(wire.Kind), "stderr"},
		{wire.Mark, new(wire.Kind), "mark"},
		{wire.LF, new(wire.LineEnd), "lf"},
		{wire.CRLF, new(wire.LineEnd), "crlf"},
		{wire.None, new(wire.LineEnd), "none"},
	} {
		text, err := tt.value.(encoding.TextMarshaler).MarshalText()
		if err != nil || string(text) != tt.name || tt.value.String() != tt.name {
			t.Errorf("%T %v: got %q, %v, want %q", tt.value, tt.value, text, err, tt.name)
		}
		if err := tt.back.UnmarshalText(text); err != nil || fmt.Sprint(tt.back.(fmt.Stringer)) != tt.name {
			t.Errorf("%q is read as %v, %v", tt.name, tt.back, err)
		}
	}
	if err := new(wire.Kind).UnmarshalText([]byte("c2a")); err == nil || err.Error() != `unknown kind "c2a"; there are invalid, request, response, notification, batch, oversized, stderr, mark, body` {
		t.Errorf("got %v for a name that is no kind's", err)
	}
	if got := wire.Kind(99).String(); got != "unknown(99)" {
		t.Errorf("got %q for a kind that is none", got)
	}
}

func TestMark(t *testing.T) {
	for _, want := range []wire.Marked{
		{Gap: 7}, {Damage: 8}, {EOF: true}, {Signal: "terminated"}, {Error: "is a directory"}, {Fault: "panic"},
		{Closed: "idle"},
	} {
		if got := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: want.JSON()}); got != want {
			t.Errorf("%s: got %+v, want %+v", want.JSON(), got, want)
		}
	}
	exit := wire.Exit{Code: 143, Signal: "terminated", Delivered: [wire.Directions]int64{1, 2, 3}}
	if got := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: wire.Marked{Exit: &exit}.JSON()}); got.Exit == nil || *got.Exit != exit {
		t.Errorf("got %+v, want %+v", got.Exit, exit)
	}
	for _, f := range []wire.Frame{{Kind: wire.Mark, Raw: []byte(`{"gap":"x"}`)}, {Kind: wire.Mark}, {Kind: wire.Invalid, Raw: []byte(`{"gap":1}`)}} {
		if got := wire.ReadMark(f); got != (wire.Marked{}) {
			t.Errorf("%v %q: got %+v, want nothing", f.Kind, f.Raw, got)
		}
	}
}

// Both ends know what one sent and the other got; of what acptap did between
// them each end knows its own part.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		origin           wire.Origin
		sender, receiver bool
	}{
		{wire.Wire, true, true},
		{wire.Withheld, true, false},
		{wire.Injected, false, true},
		{wire.Rewritten, false, true},
	} {
		f := wire.Frame{Dir: wire.ClientToAgent, Origin: tt.origin}
		if f.AtClient() != tt.sender || f.AtAgent() != tt.receiver {
			t.Errorf("%v from the client: got %v, %v, want %v, %v", tt.origin, f.AtClient(), f.AtAgent(), tt.sender, tt.receiver)
		}
		f.Dir = wire.AgentToClient
		if f.AtClient() != tt.receiver || f.AtAgent() != tt.sender {
			t.Errorf("%v from the agent: got %v, %v, want %v, %v", tt.origin, f.AtClient(), f.AtAgent(), tt.receiver, tt.sender)
		}
	}
}
