package disk_test

import (
	"errors"
	"testing"

	"github.com/acptap/acptap/record/disk"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{}`, ""},
		{`{"needs":null}`, ""},
		{`{"needs":["rules"]}`, ""},
		{`{"needs":["rules","streams","tunnels"],"version":"seven"}`, `a block needs "tunnels": written by a newer acptap; update acptap to read it`},
		{`{"needs":["a","b\u001b","c","d"]}`, `a block needs "a", "b\x1b", "c", …: written by a newer acptap; update acptap to read it`},
		{`{"needs":"no list"}`, ""},
		{`no JSON`, ""},
	} {
		err := disk.CheckNeeds("a block", []byte(tt.object))
		if got := text(err); got != tt.want || err != nil && !errors.Is(err, disk.ErrNewer) {
			t.Errorf("%s: got %s, want %s", tt.object, got, tt.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
