package dialect_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// namingMethods are the files, or folders, that may name methods, and why.
var namingMethods = map[string]string{
	"proxy/dialect":                   "is the place that knows methods",
	"inspect/conform":                 "has rules about the text of a specification, which names them",
	"inspect/frames/frametext/acp.go": "has a phrase for each, which dialect.Like finds for those that act like another",
	"inspect/frames/frametext/mcp.go": "as acp.go",
	"cmd/acptap/internal/demo":        "plays both sides of a conversation",
	".ci/shots":                       "makes tapes for pictures",
	"replay/internal/replaytest":      "makes tapes for tests",
}

// TestNoLiteralNames checks that other packages ask for a method's role, or use the constants
// of this one: then a method that acts like another is added here only.
func TestNoLiteralNames(t *testing.T) {
	names := map[string]bool{}
	for _, m := range dialect.Methods() {
		names[m.Name] = strings.Contains(m.Name, "/") || m.Name == dialect.Initialize
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch _, allowed := namingMethods[name]; {
		case err != nil:
			return err
		case d.IsDir() && (allowed || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir(), allowed, filepath.Ext(path) != ".go", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && names[text] {
					t.Errorf("%s: %s: ask for the role of the method (dialect.Does), or take its name from dialect", set.Position(lit.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
