package dialect_test

import (
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

func TestIsBadExit(t *testing.T) {
	for _, tt := range []struct {
		exit *wire.Exit
		want bool
	}{
		{nil, false},
		{&wire.Exit{}, false},
		{&wire.Exit{Code: 2}, true},
		{&wire.Exit{Error: "no such file"}, true},
		{&wire.Exit{Code: 143}, false},
		{&wire.Exit{Signal: "terminated"}, false},
		{&wire.Exit{Signal: "segmentation fault"}, true},
	} {
		if got := dialect.IsBadExit(tt.exit); got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt.exit, got, tt.want)
		}
	}
}
