package rule

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// delay writes a frame later. The delay is uniform between from and to, or exponential around
// mean.
type delay struct {
	from, to time.Duration
	mean     time.Duration // instead of from and to
}

func readDelay(p *scanner) (action, error) {
	p.blanks()
	at := p.i
	word := p.word()
	text, random := strings.CutPrefix(word, "~")
	first, last, between := strings.Cut(text, "..")
	from, ok := parseTime(first)
	to := from
	if between {
		var is bool
		to, is = parseTime(last)
		ok = ok && is && from <= to && !random
	}
	switch {
	case !ok:
		return nil, p.wrong(at, "a delay is 2s, 1s..3s, or ~2s for a random one of that mean")
	case random:
		return delay{mean: from}, nil
	}
	return delay{from: from, to: to}, nil
}

func (d delay) pace(_ *wire.Frame, random *rand.Rand) (proxy.Pace, string) {
	wait := d.from
	switch {
	case d.mean > 0:
		wait = min(time.Duration(random.ExpFloat64()*float64(d.mean)), maxTime)
	case d.to > d.from:
		wait += time.Duration(random.Int64N(int64(d.to-d.from) + 1))
	}
	wait = wait.Round(time.Microsecond)
	return proxy.Pace{Delay: wait}, "delay " + strconv.FormatFloat(seconds(wait), 'f', -1, 64) + " s"
}

// seconds returns a time in seconds, exact to the microsecond.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// slow limits the rate at which a frame is written, in bytes per second.
type slow int

func (s slow) pace(*wire.Frame, *rand.Rand) (proxy.Pace, string) {
	return proxy.Pace{Rate: int(s)}, fmt.Sprintf("slow, %d bytes a second", int(s))
}

// split writes a frame in pieces.
type split struct {
	piece int // 0: cut inside the first multi-byte character
	pause time.Duration
}

func readSplit(p *scanner) (action, error) {
	s := split{pause: 5 * time.Millisecond}
	var err error
	if p.take("utf8") == "" {
		if s.piece, err = p.count("the length of a piece, or utf8,", 1); err != nil {
			return nil, err
		}
	}
	if p.more() {
		s.pause, err = p.duration("the pause")
	}
	return s, err
}

func (s split) pace(f *wire.Frame, _ *rand.Rand) (proxy.Pace, string) {
	if s.piece > 0 {
		return proxy.Pace{Piece: s.piece, Pause: s.pause}, fmt.Sprintf("split into pieces of %d bytes", s.piece)
	}
	for i, c := range f.Raw {
		if c >= utf8.RuneSelf {
			return proxy.Pace{Cuts: []int{i + 1}, Pause: s.pause}, fmt.Sprintf("split within a character, at byte %d", i+1)
		}
	}
	return proxy.Pace{}, ""
}
