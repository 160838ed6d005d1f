// Package record keeps tapes: what passed through a proxy, in a store on disk.
//
// A tape is written twice. While the proxy runs, the bytes go as they come into
// a journal: one append for each read, no parsing (journal.Writer). Behind that, and
// off the hot path, a dissector cuts the journal into frames, numbers and
// decodes them, and packs them into blocks, which are sealed in a bbolt file of
// the tape. The same code does this whether the proxy is alive, has ended or was
// killed. A reader (Tape) takes the sealed blocks and then what is still in the
// journal, and gives the same frames with the same numbers in all these cases.
//
// What the package guarantees: bytes come back exactly as they crossed the
// wire; bytes that could not be stored are a gap with its size; damage costs the
// record or block that is damaged, and never ends the process. It does not know
// what starts the agent, and it never writes to stdout or stderr.
package record

import (
	"errors"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
)

// Errors by which callers decide. They come wrapped, with the place.
var (
	ErrNoTape    = errors.New("no such tape")
	ErrAmbiguous = errors.New("ambiguous")
	ErrDamaged   = disk.ErrDamaged
	ErrNewer     = disk.ErrNewer
	ErrLive      = errors.New("still being recorded")
)

// Format is that of what is on disk.
const Format = disk.Format

// A Start is what is known of a tape when it begins.
type Start = journal.Start

// A Parent is the tape of the agent that started what is on this one.
type Parent = journal.Parent
