package otlp

import (
	"fmt"
	"slices"
	"strings"
)

// A Signal is a kind of telemetry.
type Signal uint8

// The signals.
const (
	Traces Signal = iota
	Metrics
	Logs
)

// Signals lists all signals.
var Signals = []Signal{Traces, Metrics, Logs}

// String returns the name of a signal in OpenTelemetry URLs.
func (s Signal) String() string { return [...]string{"traces", "metrics", "logs"}[s] }

// ParseSignals parses a list such as traces,metrics. It returns each signal once, in the
// order of Signals.
func ParseSignals(text string) (list []Signal, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(Signals, func(s Signal) bool { return s.String() == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("%q is no signal: there are traces, metrics and logs", name)
		}
		list = append(list, Signals[i])
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
