package replay

import "github.com/acptap/acptap/proxy/wire"

// A Mode says when a Cassette runs the real agent and writes the file. The modes are
// those of VCR, the Ruby library.
type Mode uint8

// The modes.
const (
	ModeOnce Mode = iota // record if there is no file, otherwise replay
	ModeNone             // replay
	ModeNew              // replay, and add what the file lacks: sessions, the continuation of sessions, MCP calls
	ModeAll              // record
)

var modeNames = [...]string{"once", "none", "new", "all"}

// ModeVariable is the environment variable that sets the mode where the command cannot
// be changed, such as on a build server that must not run agents.
const ModeVariable = "ACPTAP_MODE"

// String returns once, none, new or all.
func (m Mode) String() string { return wire.Name(modeNames[:], uint8(m)) }

// MarshalText returns the name of m.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses a name that String returns.
func (m *Mode) UnmarshalText(text []byte) error {
	return wire.ParseName(modeNames[:], "mode", text, (*uint8)(m))
}
