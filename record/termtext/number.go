package termtext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Grouped formats a number with commas between the thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted formats a number of things, such as 1 turn or 1,200 turns.
func Counted[N int | int64 | uint64](n N, what string) string {
	if n != 1 {
		if strings.HasSuffix(what, "ch") {
			what += "e"
		}
		what += "s"
	}
	return Grouped(int64(n)) + " " + what
}

// Times formats how often something happened, such as once or 1,200 times.
func Times[N int | int64 | uint64](n N) string {
	if n == 1 {
		return "once"
	}
	return Grouped(int64(n)) + " times"
}

// ByteSize formats a number of bytes with at most three digits, such as 48 kB.
func ByteSize(n int64) string {
	switch {
	case n < 1e3:
		return strconv.FormatInt(n, 10) + " B"
	case n < 999.5e3:
		return scaled(n, 1e3) + " kB"
	case n < 999.5e6:
		return scaled(n, 1e6) + " MB"
	}
	return scaled(n, 1e9) + " GB"
}

func scaled(n int64, unit float64) string {
	x := float64(n) / unit
	if x < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// NonZero formats a number as Grouped does, and 0 as "".
func NonZero(n int64) string {
	if n == 0 {
		return ""
	}
	return Grouped(n)
}

// Amount formats an amount of money with as many decimals as are significant.
func Amount(n float64) string {
	switch text := fmt.Sprintf("%.3f", n); {
	case n != 0 && n < 0.01:
		return fmt.Sprintf("%.2g", n)
	case n < 1 && !strings.HasSuffix(text, "0"):
		return text
	}
	return fmt.Sprintf("%.2f", n)
}

// UnknownTime replaces the time of a frame that was imported without one.
const UnknownTime = "?"

// Duration formats a duration with up to three digits, or in minutes and seconds from a
// minute on.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 9995*time.Millisecond:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < 59950*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Seconds is a duration as programs read it: a decimal number of seconds, exact to the
// nanosecond. time.Duration.Seconds is not: of 5.347 s it makes 5.3469999999999995.
type Seconds time.Duration

// Float returns the number nearest to s.
func (s Seconds) Float() float64 { return float64(s) / 1e9 }

// String returns s without trailing zeros, such as 5.347.
func (s Seconds) String() string { return string(s.Append(nil)) }

// MarshalJSON returns s as a number.
func (s Seconds) MarshalJSON() ([]byte, error) { return s.Append(nil), nil }

// Append appends s to b.
func (s Seconds) Append(b []byte) []byte {
	ns := uint64(s)
	if s < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendUint(b, ns/1e9, 10)
	if ns %= 1e9; ns > 0 {
		b = bytes.TrimRight(fmt.Appendf(b, ".%09d", ns), "0")
	}
	return b
}
