package main

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOnlyInspectDraws: a command that writes lines needs no screen. So only
// inspect.go, and what asks the terminal for its background, import what draws one, itself or
// by way of other packages, and what puts frames into words and finds them does without.
func TestOnlyInspectDraws(t *testing.T) {
	var drawing []string
	for _, file := range goFiles(t, ".") {
		if slices.ContainsFunc(imports(t, file), func(p string) bool { return draws(t, p, map[string]bool{}) }) {
			drawing = append(drawing, file)
		}
	}
	if want := []string{"background_unix.go", "background_windows.go", "inspect.go", "inspect_control.go"}; !slices.Equal(drawing, want) {
		t.Errorf("a screen is imported by %v, want %v", drawing, want)
	}
	for _, p := range []string{"inspect/frames/filter", "inspect/frames/frametext", "inspect/frames/frameindex", "inspect/tapetext", "inspect/screen/framepane", "inspect/screen/page", "inspect/screen/tracepage", "inspect/screen/diffpage", "inspect/stall", "inspect/stats", "record/trace", "replay"} {
		if draws(t, path.Join(module, p), map[string]bool{}) {
			t.Errorf("%s imports a screen", p)
		}
	}
}

const module = "github.com/acptap/acptap"

// draws reports whether a package is tview or tcell, or is one of ours that imports
// them.
func draws(t *testing.T, pkg string, seen map[string]bool) bool {
	t.Helper()
	if strings.HasPrefix(pkg, "github.com/rivo/tview") || strings.HasPrefix(pkg, "github.com/gdamore/tcell") {
		return true
	}
	below, ours := strings.CutPrefix(pkg, module+"/")
	if !ours || seen[pkg] {
		return false
	}
	seen[pkg] = true
	for _, file := range goFiles(t, filepath.Join("..", "..", filepath.FromSlash(below))) {
		if slices.ContainsFunc(imports(t, file), func(p string) bool { return draws(t, p, seen) }) {
			return true
		}
	}
	return false
}

// goFiles returns the files of a package that are no tests, for all systems.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	return files
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}
