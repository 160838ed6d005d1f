package record

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/record/journal"
)

// A Recorder records one tape: it is the journal that the proxy's pumps write, each
// from its own goroutine. Behind it a sealer moves what was written into the tape's
// file.
type Recorder struct {
	*journal.Writer
	lock    *os.File     // held until all work behind the journal has ended
	saved   atomic.Int64 // position up to which all is in the tape's file
	flusher *flusher
}

// newRecorder begins a tape in the store. The caller holds lock, the tape's lock file,
// and leaves it to the recorder.
func newRecorder(s *Store, tape string, start Start, began time.Time, lock *os.File) (*Recorder, error) {
	j := &Recorder{lock: lock}
	var err error
	j.Writer, err = journal.Create(s.journal(tape), start, began, &j.saved, s.OnError)
	return j, err
}

// Close ends the tape. It seals what is left, for at most 50 ms: editors kill
// what takes longer. What is not sealed by then is a complete tape all the same,
// in its journal, and the next proxy seals it.
func (j *Recorder) Close() error {
	j.Writer.Close()
	return j.flusher.stop()
}

// Wait returns when the work behind a closed journal has ended too, which Close
// does not wait for longer than 50 ms: only then is the tape not live any more.
func (j *Recorder) Wait() { <-j.flusher.done }
