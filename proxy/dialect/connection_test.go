package dialect_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

func TestConnections(t *testing.T) {
	ask := dialect.Frame{Frame: wire.Frame{Kind: wire.Request}, Annotation: dialect.Annotation{Method: "initialize"}}
	answer := dialect.Frame{Frame: wire.Frame{Dir: wire.AgentToClient, Kind: wire.Response}, Annotation: dialect.Annotation{Method: "initialize", Events: dialect.Initialized}}
	refuse := answer
	refuse.Events = 0
	prompt := dialect.Frame{Frame: wire.Frame{Kind: wire.Request}, Annotation: dialect.Annotation{Method: "session/prompt"}}
	eof := dialect.Frame{Frame: wire.Frame{Kind: wire.Mark, Raw: wire.Marked{EOF: true}.JSON()}}
	exit := dialect.Frame{Frame: wire.Frame{Kind: wire.Mark, Raw: wire.Marked{Exit: &wire.Exit{}}.JSON()}}
	for _, tt := range []struct {
		name     string
		protocol dialect.Protocol
		frames   []dialect.Frame
		want     []int // indexes of the frames that begin one
	}{
		{"one", dialect.ACP, []dialect.Frame{ask, answer, prompt, eof, exit}, nil},
		{"initialized again", dialect.ACP, []dialect.Frame{ask, answer, prompt, ask, answer, ask}, []int{3, 5}},
		{"tried again", dialect.ACP, []dialect.Frame{ask, refuse, ask, answer}, nil},
		{"initialized again in MCP", dialect.MCP, []dialect.Frame{ask, answer, ask, answer}, nil},
		{"started again", dialect.MCP, []dialect.Frame{ask, answer, exit, ask, answer, prompt}, []int{3}},
		{"started again without a greeting", dialect.ACP, []dialect.Frame{ask, answer, exit, prompt, ask}, []int{3}},
		{"ended only", dialect.ACP, []dialect.Frame{ask, answer, eof, prompt}, nil},
	} {
		c := dialect.Connections{Protocol: tt.protocol}
		var got []int
		for i := range tt.frames {
			if c.StartsNext(&tt.frames[i]) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSpoken(t *testing.T) {
	for want, c := range map[string]dialect.Connection{
		"":               {},
		"ACP":            {Protocol: dialect.ACP},
		"ACP v1":         {Protocol: dialect.ACP, Dialect: dialect.ACPv1, Version: "1"},
		"ACP v2-early":   {Protocol: dialect.ACP, Dialect: dialect.ACPv2Early, Version: "2"},
		"ACP v99":        {Protocol: dialect.ACP, Dialect: dialect.ACPv2, Version: "99"},
		"MCP 2025-06-18": {Protocol: dialect.MCP, Dialect: dialect.MCPLegacy, Version: "2025-06-18"},
		"MCP modern":     {Protocol: dialect.MCP, Dialect: dialect.MCPModern},
	} {
		if got := c.Spoken(); got != want {
			t.Errorf("%+v: got %q, want %q", c, got, want)
		}
	}
}
