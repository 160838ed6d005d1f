package inspect

import (
	"errors"
	"strings"
	"time"
)

// askPlace goes to a frame or a time.
func (a *app) askPlace() {
	a.ask(":", "", func(text string) error {
		text = strings.TrimSpace(text)
		if at, ok := strings.CutPrefix(text, "+"); ok {
			d, err := time.ParseDuration(at)
			if err != nil {
				return errors.New("want a time such as +2.5s")
			}
			a.jumpTo(a.reel.Began(a.model.selected) + d)
			return nil
		}
		seq, err := a.reel.ParseLabel(text, a.model.selected)
		if err != nil {
			return err
		}
		return a.model.jump(seq)
	})
}

// jumpTo goes to the first row at a time, or behind it.
func (a *app) jumpTo(at time.Duration) {
	rows := a.model.rows()
	low, high := 0, rows.Len()
	for low < high {
		middle := (low + high) / 2
		if a.known.Time(rows.At(middle)) < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	a.model.follow = false
	a.model.choose(low, rows.Len())
}
