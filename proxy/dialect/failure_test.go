package dialect_test

import (
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// The failure that a frame shows by itself: the first kind that applies.
func TestFailureOfFrame(t *testing.T) {
	for _, tt := range []struct {
		name   string
		frame  wire.Frame
		events dialect.Events
		want   string
		method string
	}{
		{"nothing", wire.Frame{Kind: wire.Response}, dialect.TurnEnded, "", ""},
		{"error", wire.Frame{Kind: wire.Response, Failed: true}, dialect.TurnEnded, "error", ""},
		{"slow error", wire.Frame{Kind: wire.Response, Failed: true}, dialect.SlowRequest, "error", ""},
		{"tool", wire.Frame{Kind: wire.Notification}, dialect.CallFailed | dialect.SlowAgent, "tool", ""},
		{"rejected", wire.Frame{Kind: wire.Response}, dialect.PermissionRefused, "", ""},
		{"rejected call", wire.Frame{Kind: wire.Notification}, dialect.CallCancelled, "", ""},
		{"refusal of the model", wire.Frame{Kind: wire.Response}, dialect.TurnEnded | dialect.TurnStopped, "stopped", ""},
		{"invalid", wire.Frame{Kind: wire.Invalid}, 0, "invalid", ""},
		{"gap", wire.Frame{Kind: wire.Mark}, dialect.BytesLost, "gap", ""},
		{"exit", wire.Frame{Kind: wire.Mark}, dialect.ExitFailed | dialect.SlowAgent, "exit", ""},
		{"slow", wire.Frame{Kind: wire.Notification}, dialect.SlowEvents, "", ""},
		{"withheld", wire.Frame{Kind: wire.Response, Origin: wire.Withheld, Failed: true}, 0, "error", ""},
		{"in its place", wire.Frame{Kind: wire.Response, Origin: wire.Rewritten, Failed: true}, 0, "", ""},
		{"made by acptap", wire.Frame{Kind: wire.Response, Origin: wire.Injected, Failed: true}, 0, "error", ""},
		{"fallback", wire.Frame{Kind: wire.Response, Failed: true}, 0, "", "server/discover"},
		{"no fallback", wire.Frame{Kind: wire.Response, Failed: true}, 0, "error", "initialize"},
	} {
		f := dialect.Frame{Frame: tt.frame, Annotation: dialect.Annotation{Events: tt.events, Method: tt.method}}
		if got := f.Failure().String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
