package compare

// Outline is the outline of a side, for tests from outside.
func Outline(s Side, level Level) ([]string, error) {
	steps, err := s.outline(level)
	return texts(steps), err
}
