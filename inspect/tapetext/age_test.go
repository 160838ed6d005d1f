package tapetext_test

import (
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
)

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-72 * time.Hour: "-3d", -2 * time.Hour: "-2h",
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m",
		time.Hour: "1h", 47 * time.Hour: "47h", 2 * day: "2d", 999 * day: "999d", 1000 * day: "2y",
	} {
		if got := tapetext.Age(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
