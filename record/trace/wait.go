package trace

import "time"

// A Wait is a part of a turn in which one thing was waited for. Times are since the tape
// began.
type Wait struct {
	Part     Part
	From, To time.Duration
	Quiet    bool // ForAgent, and no frame of the session came: the model was waited for
}

// Took returns how long the wait took.
func (w Wait) Took() time.Duration { return w.To - w.From }

// Spend returns the wait as what time was spent on.
func (w Wait) Spend() Spend {
	var t times
	t[w.Part] = w.Took()
	return t.spend()
}

// QuietTime is how long no frame has to come for a wait to be quiet.
const QuietTime = 100 * time.Millisecond

// maxQuiet is how many waits of a session are told apart only because one is quiet.
const maxQuiet = 1 << 14

// Waits returns what the time of the turn was spent on, in order. The waits cover the turn
// up to its end, or up to now if it is open, without holes or overlaps. Where times on the
// tape go backwards, each instant counts once. A brief Trace keeps none.
func (t *Turn) Waits(now time.Duration) []Wait {
	switch {
	case t.clock == nil && t.waits == nil, t.clock != nil && !t.clock.keeps:
		return nil
	case t.clock == nil:
		return covering(t.waits, t.Began, t.Ended)
	}
	return covering(t.clock.waits(t.first, now), t.Began, max(now, t.Ended))
}

// covering returns the parts of waits between two times. What is in none of them was spent
// on waiting for the agent.
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

// note notes what was waited for since the clock was advanced last.
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

// waits returns what was waited for up to now, since a place in the course.
func (k *clock) waits(first int, now time.Duration) []Wait {
	ahead := *k
	ahead.course = append([]Wait(nil), k.course[min(first, len(k.course)):]...)
	ahead.advance(now)
	return ahead.course
}
