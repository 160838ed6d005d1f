package compare

import "hash/maphash"

// Outline is the outline of a side, for tests from outside.
func Outline(s Side, level Level) ([]string, error) {
	lines := newSheet(maphash.MakeSeed())
	err := s.outline(level, lines)
	var list []string
	for _, text := range lines.all() {
		list = append(list, text)
	}
	return list, err
}
