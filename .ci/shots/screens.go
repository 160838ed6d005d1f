package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A screenSize is a number of columns and rows.
type screenSize struct{ columns, rows int }

var screenSizes = []screenSize{{80, 24}, {120, 40}, {200, 60}}

// places are the places of the browser by their keys.
var places = []struct{ key, name string }{{"2", "frames"}, {"3", "chat"}, {"4", "turns"}, {"7", "findings"}}

// A text is what stood on a terminal; its picture is NAME.png, and its text NAME.txt.
type text struct {
	path    string // without the ending
	columns int
	ansi    string
	on      string // the name of its palette; empty: it is drawn in each
}

// visitPlaces opens a tape in the browser, and returns what it shows first and in each place.
// Without a tape it returns the store. It goes from place to place by the store, so that each
// key changes the screen.
func visitPlaces(ctx context.Context, acptap, store, dir, tape string, size screenSize, on palette) (texts []text, err error) {
	t := &terminal{socket: fmt.Sprintf("acptap-shots-%d-%s-%d-%s", os.Getpid(), tape, size.columns, on.name)}
	arguments := []string{acptap, "inspect", "--store", store}
	if tape != "" {
		arguments = append(arguments, tape)
	}
	defer t.close()
	if err := t.start(ctx, size, on.back, arguments); err != nil {
		return nil, err
	}
	shown, err := t.settled(ctx, "")
	if err != nil {
		return nil, err
	}
	keep := func(place string) {
		name := strings.Trim(fmt.Sprintf("%s-%s", tape, place), "-")
		texts = append(texts, text{filepath.Join(dir, fmt.Sprintf("%s-%dx%d", name, size.columns, size.rows)), size.columns, shown, on.name})
	}
	if tape == "" {
		keep("store")
		return texts, nil
	}
	keep("opened")
	for _, place := range places {
		if err := t.press(ctx, "1"); err != nil {
			return nil, err
		}
		if shown, err = t.settled(ctx, shown); err != nil {
			return nil, fmt.Errorf("%s: leaving for the store: %w", tape, err)
		}
		if err := t.press(ctx, place.key); err != nil {
			return nil, err
		}
		if shown, err = t.settled(ctx, shown); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", tape, place.name, err)
		}
		keep(place.name)
	}
	return texts, nil
}

// A terminal is a server of tmux with one pane.
type terminal struct{ socket string }

func (t *terminal) tmux(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-L", t.socket, "-f", "/dev/null"}, arguments...)...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", arguments[0], err, complaint.String())
	}
	return string(out), nil
}

// start runs a command on a screen of a size with a background, which it can ask for.
func (t *terminal) start(ctx context.Context, size screenSize, background string, command []string) error {
	_, err := t.tmux(ctx, append([]string{
		"set-option", "-g", "default-terminal", "tmux-256color", ";", "set-option", "-g", "status", "off", ";",
		"set-option", "-g", "window-style", "bg=" + background, ";",
		"new-session", "-d", "-x", strconv.Itoa(size.columns), "-y", strconv.Itoa(size.rows),
		"-e", "COLORTERM=truecolor", "-e", "TZ=UTC", "--",
	}, command...)...)
	return err
}

func (t *terminal) press(ctx context.Context, key string) error {
	_, err := t.tmux(ctx, "send-keys", key)
	return err
}

func (t *terminal) close() { t.tmux(context.Background(), "kill-server") }

// settled waits until the screen is another one and complete, and returns it: three looks
// in a row find the same, and nothing is being read.
func (t *terminal) settled(ctx context.Context, before string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for last, same := "", 0; ; {
		shown, err := t.tmux(ctx, "capture-pane", "-e", "-p")
		if err != nil {
			return "", err
		}
		if shown != last || shown == before || strings.TrimSpace(shown) == "" || strings.Contains(shown, "reading…") {
			same = 0
		}
		if same++; same > 3 {
			return shown, nil
		}
		last = shown
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("the screen does not settle:\n%s", plain(shown))
		}
	}
}
