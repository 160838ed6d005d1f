package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributing holds the page for developers to name files that exist, and to be short.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile("../../.github/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 150 {
		t.Errorf("%d lines, more than 150", n)
	}
	named := 0
	for _, m := range regexp.MustCompile("`((?:proxy|record|replay|inspect|cmd|testdata|\\.ci)/[A-Za-z0-9_./-]+)`").FindAllStringSubmatch(string(text), -1) {
		if strings.HasSuffix(m[1], "/ID-name.txt") {
			m[1] = filepath.Dir(m[1])
		}
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Error(err)
		}
		named++
	}
	for _, m := range regexp.MustCompile(`(?m)^    ([a-z/-]+/) `).FindAllStringSubmatch(string(text), -1) {
		if fi, err := os.Stat(filepath.Join("../..", m[1])); err != nil || !fi.IsDir() {
			t.Errorf("%s: there is no such directory", m[1])
		}
		named++
	}
	if named < 50 {
		t.Errorf("only %d files and directories are named", named)
	}
}
