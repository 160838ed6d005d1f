// Package record keeps tapes: everything that passed between a client and an agent, in a
// store on disk.
//
// A tape is written twice. While the proxy runs, its pumps append the bytes to a journal as
// they come, without parsing them (package journal). Off the hot path, a dissector cuts
// these bytes into frames, numbers the frames, finds out what they mean, and packs them
// into compressed blocks. A flusher seals each block: it writes the block to the tape's
// bbolt file and then removes what the block covers from the journal. The same code runs
// whether the proxy is alive, has ended, or was killed. A Tape reads the sealed blocks
// first and then what is still in the journal, and returns the same frames with the same
// numbers in every case.
//
// The package guarantees that bytes come back exactly as they crossed the wire, that bytes
// which could not be stored show as a gap of known size, and that damage costs the damaged
// record or block and never ends the process. On a file system where locks do not work,
// such as NFS, it can record and read, but it leaves tapes in their journals. It does not
// know what starts the agent, and it never writes to stdout or stderr.
package record

import (
	"errors"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
)

// Errors that callers may test for. They are wrapped with the place where they occurred.
var (
	ErrNoTape     = errors.New("no such tape")
	ErrTapeExists = errors.New("it is there already")
	ErrAmbiguous  = errors.New("ambiguous")
	ErrDamaged    = disk.ErrDamaged
	ErrNewer      = disk.ErrNewer
	ErrLive       = errors.New("still being recorded")
)

// Format is the version of the format on disk.
const Format = disk.Format

// A Start is what is known about a tape when it begins.
type Start = journal.Start

// A Parent is the tape of the agent that started what is on this one.
type Parent = journal.Parent
