package record_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// A line that is too long to be held is read like any other.
func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("25 s under the race detector, and no second goroutine")
	}
	odd := "a\"\\/\b\f\n\r\t\x01é\u2028😀 "
	text := strings.Repeat(odd, (9<<20)/len(odd))
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	surrogates := strings.Repeat(`\ud83d\ude00\ud83dx\ude00\u00e9\/`, 300_000)
	for name, tt := range map[string]struct{ value, want string }{
		"text":                   {`"text":` + string(quoted), text},
		"text of ASCII":          {`"text":"` + surrogates + `"`, strings.Repeat("😀\ufffdx\ufffdé/", 300_000)},
		"base64":                 {`"base64" : "` + base64.StdEncoding.EncodeToString([]byte(text)) + `"`, text},
		"frame":                  {`"frame":{"b":[{}, ` + string(quoted) + ` ]}`, `{"b":[{}, ` + string(quoted) + ` ]}`},
		"a name in an odd place": {`"x":{"text":"frame"},"y":"\"text\":","text":` + string(quoted), text},
	} {
		line := `{"dir":"c2a",` + tt.value + ` } ` + "\r\n"
		tape, err := record.ReadPortable(strings.NewReader(`{"dir":"a2c","text":"before"}`+"\n"+line+`{"dir":"a2c","text":"behind"}`), "file")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got bytes.Buffer
		if err := tape.WriteFrame(&got, 2); err != nil {
			t.Error(err)
		}
		// Each line feed in the text has ended a frame.
		want, _, _ := strings.Cut(tt.want, "\n")
		if got.String() != want {
			t.Errorf("%s: got %d bytes, %.100q, want %d, %.100q", name, got.Len(), got.String(), len(want), want)
		}
		f, err := tape.Frame(1)
		if err != nil || string(f.Raw) != "before" {
			t.Errorf("%s: the first line is %q, %v", name, f.Raw, err)
		}
		last, err := tape.Last()
		if err != nil {
			t.Error(err)
		}
		f, err = tape.Frame(last)
		if err != nil || string(f.Raw) != "behind" {
			t.Errorf("%s: the last line is %q, %v", name, f.Raw, err)
		}
	}
}
