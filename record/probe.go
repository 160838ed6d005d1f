package record

import "strings"

// The names of tapes that acptap probe makes are RUN.CASE, such as
// probe-7k2m9p.load.unknown.
const (
	probePrefix = "probe-"
	probeLength = len("probe-7k2m9p")
)

// ProbeTag begins the tag that says how the case on a tape ended, such as probe:ok or
// probe:not-tried.
const ProbeTag = "probe:"

// ProbeOf returns the run of acptap probe that made a tape, and the case that it played, or
// hello. For other tapes run is empty.
func ProbeOf(s Start) (run, played string) {
	run, played, ok := strings.Cut(s.Name, ".")
	if !ok || len(run) != probeLength || !strings.HasPrefix(run, probePrefix) || s.Parent != (Parent{}) {
		return "", ""
	}
	return run, played
}

// isProbe reports whether acptap probe made a tape. It reads no frames.
func (s *Store) isProbe(tape string) bool {
	t, err := s.Open(tape)
	if err != nil {
		return false
	}
	start, err := t.Start()
	run, _ := ProbeOf(start)
	return err == nil && run != ""
}
