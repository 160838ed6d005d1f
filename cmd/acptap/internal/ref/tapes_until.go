package ref

import (
	"errors"
	"slices"

	"github.com/acptap/acptap/record"
)

// TapesUntil returns the tapes of a session up to and including last. If last is a file
// outside the store, it returns only last.
func TapesUntil(dir string, one record.SessionInfo, last *record.Tape) ([]*record.Tape, error) {
	store, l, err := ListStore(dir)
	if err != nil {
		return nil, err
	}
	for _, known := range slices.Concat(l.Sessions, l.Deleted) {
		i := slices.IndexFunc(known.Runs, func(r record.Run) bool { return r.Tape == last.ID() })
		if known.ID != one.ID || known.Agent != one.Agent || i < 0 {
			continue
		}
		var tapes []*record.Tape
		for _, r := range known.Runs[:i] {
			t, err := store.Open(r.Tape)
			if errors.Is(err, record.ErrNoTape) {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			tapes = append(tapes, t)
		}
		return append(tapes, last), nil
	}
	return []*record.Tape{last}, nil
}
