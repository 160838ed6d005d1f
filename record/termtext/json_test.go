package termtext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/termtext"
)

// A long text is quoted as if it were quoted in one piece, wherever in a character
// a piece would end.
func TestAppendQuotedLong(t *testing.T) {
	for _, unit := range []string{"a", "é", "日", "😀", "\x9d", "\xff", "\xf0\x9f", "\x1b", "\""} {
		for shift := range 4 {
			text := strings.Repeat(" ", shift) + strings.Repeat(unit, 200_000/len(unit)) + "."
			want, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			want = termtext.JSON(want)
			if got := termtext.AppendQuoted(nil, []byte(text)); string(got) != string(want) {
				t.Errorf("%+q shifted by %d: got %d bytes, want %d", unit, shift, len(got), len(want))
			}
		}
	}
}
