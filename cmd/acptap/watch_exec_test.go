//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stall"
)

// What came over the wire is in the environment of the command, and names none itself.
func TestExec(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	x := newStallHook(t.Context(), `printf '%s|' "$ACPTAP_KIND" "$ACPTAP_TAPE" "$ACPTAP_SESSION" "$ACPTAP_FRAME" "$ACPTAP_TEXT" $ACPTAP_STORE >>`+out, []string{"ACPTAP_STORE=s"}, func(err error) { t.Error(err) })
	for _, text := range []string{"`touch a` $(touch b); touch c", "second"} {
		x.Run("tape", &stall.Change{Stall: stall.Stall{Kind: stall.Asked, Session: "$(id)\x00\x1b[2J", Frame: 7, Text: text}})
	}
	x.Close()
	got, err := os.ReadFile(out)
	if want := "asked|tape|$(id)␀|7|`touch a` $(touch b); touch c|s|asked|tape|$(id)␀|7|second|s|"; err != nil || string(got) != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
}

// A command that hangs, floods or fails is told of, and holds nothing up.
func TestExecTrouble(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"sleep 600", "--exec: killed after 200ms"},
		{"yes >&2", "--exec: killed after 200ms"},
		{"yes", "--exec: killed after 200ms"},
		{"sleep 600 & sleep 600", "--exec: killed after 200ms"},
		{"echo no such thing >&2; exit 3", "--exec: exit status 3: no such thing"},
	} {
		told := make(chan string, 2*maxQueued)
		x := newStallHook(t.Context(), tt.command, nil, func(err error) { told <- err.Error() })
		x.limit = 200 * time.Millisecond
		began := time.Now()
		for range maxQueued + 2 {
			x.Run("tape", new(stall.Change))
		}
		if took := time.Since(began); took > 150*time.Millisecond {
			t.Errorf("%s: it holds up for %v", tt.command, took)
		}
		got := []string{<-told, <-told}
		x.Close()
		if all := strings.Join(got, "\n"); !strings.Contains(all, tt.want) || !strings.Contains(all, "others are left out") {
			t.Errorf("%s: told %q", tt.command, got)
		}
	}
}
