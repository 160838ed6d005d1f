package dialect

import "github.com/acptap/acptap/proxy/wire"

// IsBadExit reports whether an agent ended in a way that no client can have wanted,
// whatever the client did before. It is false if one of endsPrograms ended the agent; then
// the earlier frames decide.
func IsBadExit(x *wire.Exit) bool { return x != nil && (&ending{Left: true}).isFailure(x) }
