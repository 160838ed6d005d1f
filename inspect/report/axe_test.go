package report_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/inspect/report"
)

// axe returns the script of axe-core, which npm installs.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	// What npm keeps in its cache is not asked for again.
	install := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4.14.1")
	if out, err := install.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm install axe-core: %v\n%s", err, out)
		}
		t.Skipf("npm install axe-core: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The page can be read with whatever people read with.
func testAccessible(browser context.Context, t *testing.T) {
	script := axe(t)
	other := report.Input{Tapes: []report.Tape{tape(t, "acpx-cancel")}, Version: "0", Ref: "b.jsonl"}
	one := report.Input{Tapes: []report.Tape{tape(t, "acp-v2")}, Version: "0", Ref: "a.jsonl"} // of two sessions
	for name, page := range map[string][]byte{"one run": write(t, one), "two runs": writeDiff(t, one, other), "many calls": write(t, report.Input{Tapes: []report.Tape{manyCalls(t, 2, 25)}}), "a server": write(t, report.Input{Tapes: []report.Tape{tape(t, "mcp-everything")}})} {
		b := open(browser, t, page, "")
		eval[bool](b, script+"; true")
		b.accessible(name)
	}
}

// accessible reports what the rules of axe-core find wrong with the page, also with a frame in
// the panel, dark and narrow.
func (b *tab) accessible(name string) {
	b.t.Helper()
	for _, step := range []struct{ name, act string }{
		{"light", `true`},
		{"panel", `(document.querySelector('.row').click(), new Promise(done => { const look = () => document.querySelector('.tree .leaf') ? done(true) : setTimeout(look, 5); look(); }))`},
		{"expanded", `(document.querySelector('[data-fold=open]')?.click(), true)`},
		{"only failed", `(document.querySelector('[data-fold=bad]')?.click(), true)`},
		{"sorted", `(document.querySelector('[data-fold=bad]')?.click(), document.querySelector('.sort')?.click(), true)`},
		{"collapsed", `(document.querySelector('[data-fold=close]')?.click(), true)`},
		{"filtered", filtered + `; filtered('kind:request')`},
		{"nothing found", `filtered('turn:9999')`},
		{"wrong filter", `filtered('no-key:1')`},
		{"keys", `(document.getElementById('keys').showModal(), true)`},
		{"dark", `(document.getElementById('keys').close(), document.getElementById('theme').click(), filtered(''))`},
		{"narrow", `true`},
	} {
		if step.name == "narrow" {
			b.do(chromedp.EmulateViewport(390, 800))
		}
		eval[any](b, step.act)
		for _, wrong := range eval[[]string](b, `axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r =>
			r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120) + ' ' + (n.any[0]?.message ?? n.all[0]?.message ?? ''))))`) {
			b.t.Errorf("%s, %s: %s", name, step.name, wrong)
		}
	}
}
