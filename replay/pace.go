package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Pace says how long to hold back the agent's frames. The zero value holds back nothing.
type Pace struct {
	Speed float64       // 1 as recorded, 0.5 half as fast; 0: no waiting
	Max   time.Duration // the longest wait; 0: no limit
}

// ParsePace parses fast, recorded, or a speed such as 0.5x. A maximum wait may follow, as
// in recorded,max=2s.
func ParsePace(text string) (Pace, error) {
	var p Pace
	speed, limit, limited := strings.Cut(text, ",")
	switch number, isSpeed := strings.CutSuffix(speed, "x"); {
	case speed == "fast":
	case speed == "recorded":
		p.Speed = 1
	case isSpeed:
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 1e-6 && n <= 1e6) {
			return p, fmt.Errorf("%q is no speed; such as 0.5x is", speed)
		}
		p.Speed = n
	default:
		return p, fmt.Errorf("%q is no pace; fast, recorded and 0.5x are", speed)
	}
	if limited {
		value, ok := strings.CutPrefix(limit, "max=")
		d, err := time.ParseDuration(value)
		if !ok || err != nil || d <= 0 {
			return p, fmt.Errorf("%q is no longest wait; such as max=2s is", limit)
		}
		p.Max = d
	}
	return p, nil
}

// String returns the text that ParsePace parses.
func (p Pace) String() string {
	text := "fast"
	switch p.Speed {
	case 0:
	case 1:
		text = "recorded"
	default:
		text = strconv.FormatFloat(p.Speed, 'g', -1, 64) + "x"
	}
	if p.Max > 0 {
		text += ",max=" + p.Max.String()
	}
	return text
}

// wait returns how long to wait for a recorded pause.
func (p Pace) wait(recorded time.Duration) time.Duration {
	if p.Speed == 0 || recorded <= 0 {
		return 0
	}
	d := float64(recorded) / p.Speed
	if limit := float64(p.Max); p.Max > 0 && d > limit {
		return p.Max
	}
	return time.Duration(min(d, float64(1<<62)))
}

// A writtenClock computes when the recorded client was sent the agent's frames: a rule may
// have delayed them.
type writtenClock struct {
	last time.Duration // tape time of the last frame
	more time.Duration // delay of the next frame
}

func (c *writtenClock) delay(d time.Duration) { c.more += d }

// at returns when a frame that arrived at time came was written, which is never before the
// previous frame.
func (c *writtenClock) at(came time.Duration) time.Duration {
	c.last = max(c.last, came) + c.more
	c.more = 0
	return c.last
}

// A clock determines when a lane's next frame is due.
type clock struct {
	last     time.Duration // tape time of the lane's last frame
	lastLive time.Time     // when it was sent or received in this run; zero: not yet
}

// due returns when to send a frame recorded at a given time on the tape; zero: at once.
func (c *clock) due(p Pace, at time.Duration) time.Time {
	if p.Speed == 0 || c.lastLive.IsZero() {
		return time.Time{}
	}
	return c.lastLive.Add(p.wait(at - c.last))
}

// tick notes that a frame was sent or received.
func (c *clock) tick(at time.Duration, now time.Time) { c.last, c.lastLive = at, now }
