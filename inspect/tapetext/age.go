package tapetext

import (
	"fmt"
	"time"
)

// Time returns a time for lists, in the local zone.
func Time(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Age returns an age in at most four columns, such as 45s, 3h or 12d.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 1000*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dy", d/(365*day))
}
