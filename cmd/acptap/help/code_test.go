package help

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofGo matches code in a sentence that is of the packages for Go tests: a call, or a name.
var ofGo = regexp.MustCompile("`((?:acptest|conform|replay|drive|compare)\\.[A-Z][^`]*)`")

// Go code in the topics compiles, in blocks and in sentences.
func TestCode(t *testing.T) {
	var code strings.Builder
	code.WriteString(`package topics

import (
	"io"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/acptest"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
)

var (
	_ = conform.Violation
	_ = compare.Content
	_ replay.Mode
	_ drive.Client
)

type client struct{ acp.Client }

`)
	n := 0
	for _, topic := range Topics() {
		text := topic.Markdown
		for {
			_, after, found := strings.Cut(text, "\n```go\n")
			if !found {
				break
			}
			block, rest, _ := strings.Cut(after, "\n```")
			text = rest
			n++
			// An ellipsis stands for code that the reader adds, such as the use of conn.
			fmt.Fprintf(&code, "//line %s.md:1\n%s\n", topic.Name, strings.ReplaceAll(block, "…", "_ = conn"))
		}
		for _, found := range ofGo.FindAllStringSubmatch(topic.Markdown, -1) {
			n++
			statement := found[1]
			if !strings.HasSuffix(statement, ")") {
				statement = "_ = " + statement
			}
			fmt.Fprintf(&code, "func _(t *testing.T) {\n//line %s.md:1\n%s\n}\n", topic.Name, statement)
		}
	}
	if n < 5 {
		t.Errorf("only %d pieces of code found", n)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "topics.go")
	if err := os.WriteFile(file, []byte(code.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The overlay puts the package into this module, which has the packages that the code
	// imports.
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "testdata", "topics", "topics.go"): file}})
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./testdata/topics").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
