package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

const someDiff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n--- gone\n+new\n"

// What stands in a diff is red or green by its first character, also if it looks like the
// heading.
func TestPaintedDiff(t *testing.T) {
	want := "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n\x1b[94m--- gone\x1b[0m\n\x1b[33m+new\x1b[0m\n"
	if got := paintedDiff(someDiff); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A file or a pipe gets the diff as it is.
func TestWriteDiff(t *testing.T) {
	var b bytes.Buffer
	err := WriteDiff(&b, func(w io.Writer) error {
		_, err := io.Copy(w, strings.NewReader(someDiff))
		return err
	})
	if err != nil || b.String() != someDiff {
		t.Errorf("got %v and %q", err, b.String())
	}
}
