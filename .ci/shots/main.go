// Command shots makes pictures of all that acptap shows: pages, screens of the browser, and
// what commands print, of tapes that it writes itself. Looked at before and after a change
// they tell what it changed. See run.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

// A gallery is the directory with the pictures, and what they are made of.
type gallery struct {
	dir, acptap string
	names       []string // of the tapes that are looked at
	browser     context.Context
}

// run makes what the arguments name: ACPTAP DIR [tapes|pages|screens|lines] [TAPE...].
func run(ctx context.Context, arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: .ci/shots/run DIR [tapes|pages|screens|lines] [TAPE...]")
	}
	dir, err := filepath.Abs(arguments[1])
	if err != nil {
		return err
	}
	g := &gallery{dir: dir, acptap: arguments[0]}
	part := ""
	if len(arguments) > 2 {
		part = arguments[2]
		g.names = arguments[3:]
	}
	parts := map[string]func(context.Context) error{"pages": g.pages, "screens": g.screens, "lines": g.lines}
	if part != "" && part != "tapes" && parts[part] == nil {
		return fmt.Errorf("unknown part %q; there are tapes, pages, screens and lines", part)
	}
	if _, err := os.Stat(g.store()); err != nil || part == "" || part == "tapes" {
		if err := g.record(ctx); err != nil {
			return err
		}
	}
	if part == "tapes" {
		return nil
	}
	browser, end, err := startBrowser(ctx)
	if err != nil {
		return err
	}
	defer end()
	g.browser = browser
	for _, name := range []string{"pages", "screens", "lines"} {
		if part != "" && part != name {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
		if err := parts[name](ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *gallery) store() string { return filepath.Join(g.dir, "store") }
func (g *gallery) tapes() string { return filepath.Join(g.dir, "tapes") }

// wanted returns the names of the tapes to look at.
func (g *gallery) wanted() []string {
	if len(g.names) > 0 {
		return g.names
	}
	return allTapes()
}

// allTapes returns the names of all tapes but those of servers.
func allTapes() []string {
	names := []string{"demo", "mcp"}
	for _, s := range stories() {
		if !strings.Contains(s.name, ".mcp.") {
			names = append(names, s.name)
		}
	}
	return names
}

// record writes the tapes, and imports them into a new store.
func (g *gallery) record(ctx context.Context) error {
	for _, old := range []string{g.store(), g.tapes()} {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	if err := writeTapes(g.tapes()); err != nil {
		return err
	}
	demo, err := os.MkdirTemp("", "shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(demo)
	for _, arguments := range [][]string{
		{"demo", "--store", demo},
		{"export", "--store", demo, "-o", filepath.Join(g.tapes(), "demo.jsonl"), "last~1"},
		{"import", "--store", g.store(), g.tapes()},
	} {
		if _, err := g.run(ctx, arguments...); err != nil {
			return err
		}
	}
	return nil
}

func (g *gallery) run(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.acptap, arguments...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("acptap %s: %w: %s", strings.Join(arguments, " "), err, complaint.String())
	}
	return string(out), nil
}

// pages writes the page of each tape, and of the two that are compared, with its pictures.
func (g *gallery) pages(ctx context.Context) error {
	runs := [][]string{}
	for _, name := range g.wanted() {
		runs = append(runs, []string{name})
	}
	if len(g.names) == 0 || slices.Contains(g.names, "a-b") {
		runs = append(slices.DeleteFunc(runs, func(r []string) bool { return r[0] == "a-b" }), []string{"a", "b"})
	}
	return each(runs, func(tapes []string) error {
		name := strings.Join(tapes, "-")
		html := filepath.Join(g.dir, "pages", name+".html")
		if _, err := g.run(ctx, append([]string{"report", "--store", g.store(), "-o", html}, tapes...)...); err != nil {
			return err
		}
		return shoot(g.browser, html, filepath.Join(g.dir, "pages"), name)
	})
}

// screens visits each place of the browser for each tape on terminals of all sizes.
func (g *gallery) screens(ctx context.Context) error {
	type visit struct {
		tape string
		size screenSize
		on   palette
	}
	var visits []visit
	for _, size := range screenSizes {
		for _, on := range palettes {
			if on.name == "light" && size.columns != 120 {
				continue
			}
			for _, name := range append([]string{""}, g.wanted()...) {
				visits = append(visits, visit{name, size, on})
			}
		}
	}
	return each(visits, func(v visit) error {
		texts, err := visitPlaces(ctx, g.acptap, g.store(), filepath.Join(g.dir, "screens"), v.tape, v.size, v.on)
		if err != nil {
			return err
		}
		return g.draw(texts)
	})
}

// lines runs each command on a narrow and a wide terminal: of all, or those whose pictures'
// names contain what was named.
func (g *gallery) lines(ctx context.Context) error {
	lines := commandLines(allTapes())
	if len(g.names) > 0 {
		lines = slices.DeleteFunc(lines, func(c commandLine) bool {
			return !slices.ContainsFunc(g.names, func(name string) bool { return strings.Contains(c.name, name) })
		})
	}
	return each(lines, func(command commandLine) error {
		var texts []text
		for _, columns := range []int{80, 120} {
			t, err := typed(ctx, g.acptap, g.store(), filepath.Join(g.dir, "lines"), command, columns)
			if err != nil {
				return err
			}
			texts = append(texts, t)
		}
		return g.draw(texts)
	})
}

// draw writes texts with their pictures.
func (g *gallery) draw(texts []text) error {
	tab, end := chromedp.NewContext(g.browser)
	defer end()
	for _, t := range texts {
		if err := os.WriteFile(t.path+".txt", []byte(plain(t.ansi)), 0o644); err != nil {
			return err
		}
		for _, p := range palettes {
			if t.on != "" && t.on != p.name {
				continue
			}
			path := t.path + ".png"
			if p.name == "light" {
				path = t.path + "-light.png"
			}
			html, err := json.Marshal(p.page(t.ansi, t.columns))
			if err != nil {
				return err
			}
			if _, err := chromedp.Run(tab, chromedp.Evaluate[bool](fmt.Sprintf("(document.body.innerHTML = %s, true)", html))); err != nil {
				return err
			}
			if err := grow(tab, 1900, "document.querySelector('pre')"); err != nil {
				return err
			}
			if err := picture(tab, "document.querySelector('pre')", path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// each does two things at once, and returns the first error.
func each[T any](things []T, do func(T) error) error {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex // guards first
		first error
	)
	next := make(chan T)
	for range 2 {
		wait.Go(func() {
			for thing := range next {
				if err := do(thing); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, thing := range things {
		next <- thing
	}
	close(next)
	wait.Wait()
	return first
}
