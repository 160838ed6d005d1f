package cli

import (
	"os"
	"runtime/debug"
)

// softMemory is the memory from which on a frugal command collects garbage more often.
const softMemory = 176 << 20

// SaveMemory makes a command that holds whole conversations trade processor time for memory,
// unless GOMEMLIMIT is set (BenchmarkReadMemory in cmd/acptap).
func SaveMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}
