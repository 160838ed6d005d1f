package termtext

import (
	"fmt"
	"time"
)

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
