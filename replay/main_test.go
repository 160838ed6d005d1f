package replay_test

import (
	"testing"

	"github.com/acptap/acptap/replay/testdata/replaytest"
)

func TestMain(m *testing.M) {
	replaytest.Main(m, map[string]func(args []string){"asking": asking, "echo": echo, "recalling": recalling})
}
