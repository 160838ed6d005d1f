package frametext_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/frames/frametext"
)

func TestCompleted(t *testing.T) {
	for _, tt := range []struct{ cut, want string }{
		{`{"a":[1,{"b":"c`, `{"a":[1,{"b":"c"}]}`},
		{`{"a":"b\"`, `{"a":"b\""}`},
		{`{"a":"b\\`, `{"a":"b\\"}`},
		{`{"a":"b\`, `{"a":"b"}`},
		{`["]","`, `["]",""]`},
		{`[1,2`, `[1,2]`},
		{`{"a":"b"}`, `{"a":"b"}`},
		{`]`, `]`},
		{``, ``},
	} {
		if got := string(frametext.Completed([]byte(tt.cut))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.cut, got, tt.want)
		}
	}
}
