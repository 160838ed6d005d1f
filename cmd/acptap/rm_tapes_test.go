package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

var someTapes = []doomedTape{
	{Tape: "20260101T000000000-aaaaaa", Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Agent: "my-agent", Title: "Fix the mean", Turns: 2, Size: 1 << 20},
	{Tape: "20260101T000000001-bbbbbb", Error: "damaged", Size: 1 << 20},
}

// Nothing is deleted unless the answer is yes, and what follows begins a line.
func TestConfirm(t *testing.T) {
	const question, nothing = "Delete 2 tapes, 2.1 MB? [y/N] ", "Nothing was deleted.\n"
	for answer, want := range map[string]string{
		"y\n": question, "Yes\n": question, "yes": question + "\n",
		"\n": question + nothing, "": question + "\n" + nothing, "n\n": question + nothing, "yep\n": question + nothing,
	} {
		var out bytes.Buffer
		got, err := confirm(strings.NewReader(answer), &out, someTapes)
		if yes := !strings.Contains(want, nothing); got != yes || err != nil || out.String() != want {
			t.Errorf("%q: got %v, %v and %q, want %v and %q", answer, got, err, out.String(), yes, want)
		}
	}
}

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	if err := writeDoomed(&out, someTapes, someTapes[0].Started.Add(72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := writeDoomedTotal(&out, someTapes[:1], "deleted"); err != nil {
		t.Fatal(err)
	}
	want := `
TAPE    AGE  AGENT     TURNS  SIZE    TITLE
aaaaaa  3d   my-agent  2      1.0 MB  Fix the mean
bbbbbb                 0      1.0 MB  cannot be read: damaged
1 tape deleted, 1.0 MB
`
	if got := out.String(); got != want[1:] {
		t.Errorf("got\n%swant%s", got, want)
	}
}
