package record_test

import (
	"errors"
	"testing"

	"github.com/acptap/acptap/record"
)

func TestTapeID(t *testing.T) {
	const (
		first  = "20260102T150405000-aaa111"
		second = "20260102T150405001-bbb111"
		third  = "20260103T000000000-ccc222"
	)
	three := []string{first, second, third}
	for _, tt := range []struct {
		ref  string
		ids  []string
		want string
		err  error
	}{
		{first, three, first, nil},
		{"bbb", three, second, nil},
		{"20260103", three, third, nil},
		{"111", three, "", record.ErrAmbiguous},
		{"zzz", three, "", record.ErrNoTape},
		{"latest", three, "", record.ErrNoTape},
		{"", []string{first}, "", record.ErrNoTape}, // an unset variable in a script of the user
		{"-", []string{first}, "", record.ErrNoTape},
	} {
		got, err := record.TapeID(tt.ids, tt.ref)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q among %d: got %q, %v; want %q, %v", tt.ref, len(tt.ids), got, err, tt.want, tt.err)
		}
	}
}
