package replaytest

import (
	"os"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// Main is the TestMain of a package whose test binary is the agent of its tests
// too: told so by its arguments, the process plays one of the roles.
func Main(m *testing.M, roles map[string]func(args []string)) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], "role:"); ok {
			roles[name](os.Args[2:])
			return
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each agent takes a second to exit
	m.Run()
}

// Role returns the command of an agent that plays a role of Main.
func Role(name string, args ...string) record.Start {
	return record.Start{Command: append([]string{os.Args[0], "role:" + name}, args...)}
}
