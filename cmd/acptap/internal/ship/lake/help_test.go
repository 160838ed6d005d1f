package lake_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
)

var quoted = regexp.MustCompile("`([a-z_]+)`")

// The help topic tables tells of the columns that there are, and of no others.
func TestHelp(t *testing.T) {
	text, err := os.ReadFile("../../../help/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{} // columns by heading
	heading := ""
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(name)
		}
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
				told[heading] = append(told[heading], name[1])
			}
		}
	}
	common := told["Columns of all tables"]
	for name, schema := range map[string]*parquet.Schema{
		"turns": parquet.SchemaOf(lake.Turn{}), "tools": parquet.SchemaOf(lake.Tool{}), "calls": parquet.SchemaOf(lake.Call{}), "frames": parquet.SchemaOf(lake.Frame{}),
	} {
		var columns []string
		for _, path := range schema.Columns() {
			columns = append(columns, path[0])
		}
		slices.Sort(columns)
		if got := slices.Sorted(slices.Values(slices.Concat(common, told[name]))); !slices.Equal(got, columns) {
			t.Errorf("%s: the help tells of %q, there are %q", name, got, columns)
		}
	}
}
