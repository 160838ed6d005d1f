package termtext_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		in   time.Duration
		want string
	}{
		{0, "0"}, {time.Second, "1"}, {10 * time.Second, "10"}, {5347 * time.Millisecond, "5.347"}, {1, "0.000000001"},
		{-1500 * time.Millisecond, "-1.5"}, {math.MaxInt64, "9223372036.854775807"}, {math.MinInt64, "-9223372036.854775808"},
	} {
		if got := termtext.Seconds(tt.in).String(); got != tt.want {
			t.Errorf("%d ns: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// Seconds and its Float are the same number, in the same words.
func TestSecondsFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		s := termtext.Seconds(rng.Int64N(int64(24 * time.Hour)))
		if got := strconv.FormatFloat(s.Float(), 'f', -1, 64); got != s.String() {
			t.Fatalf("%d ns: %s and %s", s, got, s)
		}
	}
}
