package replay

import "github.com/acptap/acptap/proxy/wire"

// A Mode says when a real agent is run and what becomes of the file, as cassettes
// have it (VCR).
type Mode uint8

// The modes.
const (
	ModeOnce Mode = iota // record if there is no file, else replay
	ModeNone             // replay
	ModeNew              // replay, and add the sessions that the file lacks, or the calls of MCP
	ModeAll              // record
)

var modeNames = [...]string{"once", "none", "new", "all"}

// ModeVariable is the environment variable that names the mode for those who
// cannot change the command, such as a build server that must not run agents.
const ModeVariable = "ACPTAP_MODE"

// String returns once, none, new or all.
func (m Mode) String() string { return wire.Name(modeNames[:], uint8(m)) }

// MarshalText returns the name of m.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes a name that String returns.
func (m *Mode) UnmarshalText(text []byte) error {
	return wire.ParseName(modeNames[:], "mode", text, (*uint8)(m))
}
