package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
)

// TestHelp: the program has the help of acptap proxy below its own, with its own name in the
// examples.
func TestHelp(t *testing.T) {
	args := []string{"--help"}
	var out bytes.Buffer
	if status := cli.Run(t.Context(), tap.NewProgram(args), args, nil, &out, &out); status != 0 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"acptap-proxy is acptap proxy alone", "\nRuns AGENT with its arguments", "\n  acptap-proxy -- claude-agent-acp\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if m := regexp.MustCompile(`(?m)^-- .* --$|^  acptap proxy .*`).FindString(out.String()); m != "" {
		t.Errorf("the help has the line %q", m)
	}
}
