package trace

import "time"

// A Wait is a part of a turn in which the turn waited for one thing. Times are since the
// tape began.
type Wait struct {
	Part     Part
	From, To time.Duration
	Quiet    bool // ForAgent, and no frame of the session came: the agent waited for its model
}

// Took returns how long the wait took.
func (w Wait) Took() time.Duration { return w.To - w.From }

// Spend returns the wait as a Spend.
func (w Wait) Spend() Spend {
	var t times
	t[w.Part] = w.Took()
	return t.spend()
}

// QuietTime is the least time without a frame for a wait to be quiet.
const QuietTime = 100 * time.Millisecond

// maxQuiet bounds the course of a session: when it has so many waits, no further ones are
// quiet.
const maxQuiet = 1 << 14

// Waits returns what the turn waited for, in order. The waits cover the turn up to its end,
// or up to now if it is open, without gaps or overlaps. Where times on the tape go
// backwards, each instant counts once. A brief Trace keeps none.
func (t *Turn) Waits(now time.Duration) []Wait {
	switch {
	case t.clock == nil && t.waits == nil, t.clock != nil && !t.clock.keeps:
		return nil
	case t.clock == nil:
		return covering(t.waits, t.Began, t.Ended)
	}
	return covering(t.clock.waits(t.first, now), t.Began, max(now, t.Ended))
}

// covering returns the parts of waits between two times. It charges the gaps to the agent.
func covering(waits []Wait, from, to time.Duration) []Wait {
	list, at := []Wait{}, from
	add := func(w Wait) {
		if w.From, w.To = max(w.From, at), min(w.To, to); w.From < w.To {
			list, at = append(list, w), w.To
		}
	}
	for _, w := range waits {
		add(Wait{ForAgent, at, w.From, false})
		add(w)
	}
	add(Wait{ForAgent, at, to, false})
	return list
}

// note records what was pending since the clock was last advanced.
func (k *clock) note(to time.Duration) {
	if !k.keeps {
		return
	}
	w := Wait{Part: k.part(), From: k.at, To: to}
	w.Quiet = w.Part == ForAgent && w.Took() >= QuietTime && len(k.course) < maxQuiet
	if n := len(k.course); n > 0 && !w.Quiet && !k.course[n-1].Quiet && k.course[n-1].Part == w.Part {
		k.course[n-1].To = to
		return
	}
	k.course = append(k.course, w)
}

// waits returns the course from an index on, up to now.
func (k *clock) waits(first int, now time.Duration) []Wait {
	ahead := *k
	ahead.course = append([]Wait(nil), k.course[min(first, len(k.course)):]...)
	ahead.advance(now)
	return ahead.course
}
