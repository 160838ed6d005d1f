package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExpressions: each expression that the module gives to New is valid. Otherwise only its first use
// would tell.
func TestExpressions(t *testing.T) {
	dirs := map[string][]*ast.File{}
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dirs[filepath.Dir(path)] = append(dirs[filepath.Dir(path)], file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, files := range dirs {
		consts := map[string]ast.Expr{}
		for _, file := range files {
			for _, decl := range file.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.CONST {
					continue
				}
				for _, spec := range gen.Specs {
					if v := spec.(*ast.ValueSpec); len(v.Names) == len(v.Values) {
						for i, name := range v.Names {
							consts[name.Name] = v.Values[i]
						}
					}
				}
			}
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !isFunc(call.Fun, "lazyregexp", "New") {
					return true
				}
				count++
				at := set.Position(call.Pos())
				expr, ok := textOf(call.Args[0], consts)
				if !ok && strings.HasSuffix(at.Filename, "record/redact/notations.go") {
					return true // read from notations.txt; the tests there use each
				}
				if !ok {
					t.Errorf("%s: this expression is not known before it runs", at)
				} else if _, err := regexp.Compile(expr); err != nil {
					t.Errorf("%s: %v", at, err)
				}
				return true
			})
		}
	}
	if count < 100 {
		t.Errorf("only %d expressions were found", count)
	}
}

// textOf returns a text that is written as a string, a constant, a sum of texts, or texts joined.
func textOf(e ast.Expr, consts map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		if value, known := consts[e.Name]; known {
			return textOf(value, consts)
		}
	case *ast.BinaryExpr:
		a, known := textOf(e.X, consts)
		b, also := textOf(e.Y, consts)
		return a + b, known && also
	case *ast.CallExpr:
		list, ok := e.Args[0].(*ast.CompositeLit)
		if !ok || !isFunc(e.Fun, "strings", "Join") {
			break
		}
		var parts []string
		for _, one := range list.Elts {
			text, known := textOf(one, consts)
			if !known {
				return "", false
			}
			parts = append(parts, text)
		}
		between, known := textOf(e.Args[1], consts)
		return strings.Join(parts, between), known
	}
	return "", false
}

func isFunc(e ast.Expr, pkg, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == pkg
}
