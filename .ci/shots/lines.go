package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A commandLine is one that people type, and the name of its picture.
type commandLine struct{ name, line string }

func commandLines(names []string) []commandLine {
	lines := []commandLine{
		{"help", "--help"}, {"help-show", "show --help"}, {"help-check", "check --help"}, {"ls", "ls"}, {"sessions", "sessions"}, {"matrix", "matrix"},
		{"search", "search Overloaded"}, {"search-long", "search 'tool:\"git diff\"'"}, {"search-none", "search zzyzx"},
		{"check-failed", "check failed"}, {"check-killed", "check killed"}, {"check-bad-text", "check bad-text"}, {"check-mcp", "check --severity note mcp"},
		{"watch-failed", "watch failed"}, {"watch-killed", "watch killed"}, {"watch-slow", "watch slow"}, {"watch-long", "watch long"},
		{"stats-failed", "stats failed"}, {"stats-long", "stats long"}, {"show-failed", "show failed"}, {"show-mcp", "show mcp"},
		{"chat-failed", "show --chat failed"}, {"chat-elicit", "show --chat elicit"}, {"chat-gemini", "show --chat gemini"}, {"chat-bad-text", "show --chat bad-text"},
		{"diff", "diff a b"}, {"doctor", "doctor"}, {"unknown", "run"},
	}
	for _, name := range names {
		lines = append(lines, commandLine{"summary-" + name, "summary " + name})
	}
	return lines
}

// longest is how many lines of a command stand in its picture.
const longest = 120

// typed returns what a command writes to a terminal of so many columns.
func typed(ctx context.Context, acptap, store, dir string, command commandLine, columns int) (text, error) {
	// script gives the command a terminal; its exit status is of no interest, as check says no by it.
	inside := fmt.Sprintf("stty cols %d rows 50; exec %s %s", columns, acptap, command.line)
	cmd := exec.CommandContext(ctx, "script", "-qec", inside, "/dev/null")
	cmd.Env = append(os.Environ(), "ACPTAP_STORE="+store, "TERM=xterm-256color", "TZ=UTC")
	out, err := cmd.Output()
	if len(out) == 0 { // an answer, too: search found nothing
		out = fmt.Appendf(nil, "\x1b[2m[nothing: %v]\x1b[0m\n", err)
	}
	lines := strings.SplitAfter(string(out), "\n")
	if more := len(lines) - longest; more > 0 {
		lines = append(lines[:longest], fmt.Sprintf("\x1b[0;2m[%d lines more]\x1b[0m", more))
	}
	prompt := "\x1b[2m$ acptap " + command.line + "\x1b[0m\r\n"
	on := "dark"
	if columns == 120 {
		on = ""
	}
	return text{filepath.Join(dir, fmt.Sprintf("%s-%d", command.name, columns)), columns, prompt + strings.Join(lines, ""), on}, nil
}
