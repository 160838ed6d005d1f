//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
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

// A command that hangs or floods is told of, and holds nothing up.
func TestExecTrouble(t *testing.T) {
	for _, command := range []string{"sleep 600", "yes >&2", "yes", "sleep 600 & sleep 600"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			told := make(chan string, 2*maxQueued)
			x := newStallHook(t.Context(), command, nil, func(err error) { told <- err.Error() })
			x.limit = time.Second
			for range maxQueued + 2 {
				x.Run("tape", new(stall.Change))
			}
			got := []string{<-told, <-told}
			x.Close()
			if all := strings.Join(got, "\n"); !strings.Contains(all, "--exec: killed after 1s") || !strings.Contains(all, "others are left out") {
				t.Errorf("told %q", got)
			}
		})
	}
}

// So is one that fails.
func TestExecFailure(t *testing.T) {
	var told []string
	x := newStallHook(t.Context(), "echo no such thing >&2; exit 3", nil, func(err error) { told = append(told, err.Error()) })
	x.Run("tape", new(stall.Change))
	x.Close()
	if want := []string{"--exec: exit status 3: no such thing"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
