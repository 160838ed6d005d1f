package termtext

import (
	"fmt"
	"time"
)

// UnknownTime stands in place of the time of a frame that was imported without one.
const UnknownTime = "?"

// Duration returns a duration with up to three digits, from a minute on with its
// seconds.
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
