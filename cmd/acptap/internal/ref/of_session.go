package ref

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
)

// OfSession returns the tapes of a session and its whole ID. id is that ID or a prefix that
// only this session has.
func OfSession(tapes []*record.Tape, id string) (having []*record.Tape, session string, err error) {
	bySession := make(map[string][]*record.Tape)
	for _, t := range tapes {
		sessions, err := t.Sessions()
		if err != nil {
			return nil, "", err
		}
		for _, one := range sessions {
			bySession[one.ID] = append(bySession[one.ID], t)
		}
	}
	if found := bySession[id]; found != nil {
		return found, id, nil
	}
	names := slices.Sorted(maps.Keys(bySession))
	fits := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, id) })
	switch len(fits) {
	case 0:
		if len(names) == 0 {
			return nil, "", fmt.Errorf("session %q is not on the tape, which has none", id)
		}
		return nil, "", fmt.Errorf("session %q is not on the tape, which has %q", id, names)
	case 1:
		return bySession[fits[0]], fits[0], nil
	}
	return nil, "", fmt.Errorf("%q matches %d sessions, such as %s and %s", id, len(fits), fits[0], fits[1])
}
