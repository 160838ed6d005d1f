package ref

import "github.com/acptap/acptap/record"

// Nested returns the tapes of the servers that the agent on a part has started, by time.
// A file has none.
func (s Subject) Nested(p Part) ([]record.Info, error) {
	if s.Store == nil {
		return nil, nil
	}
	l, err := s.Store.List()
	return record.NestingOf(l.Tapes).Children(p.Tape.ID()), err
}
