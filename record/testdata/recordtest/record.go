// Package recordtest records tapes in the tests of several packages.
package recordtest

import (
	"cmp"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// Record begins a tape. Closing it seals it entirely, however long that takes, unless the
// test has set the store's EndTime. The test's end closes it too.
func Record(t testing.TB, store *record.Store, start record.Start) *record.Recorder {
	t.Helper()
	store.EndTime = cmp.Or(store.EndTime, time.Minute)
	j, err := store.Record(start)
	if err != nil {
		t.Fatal(err)
	}
	CloseAtEnd(t, j)
	return j
}

// CloseAtEnd has the test's end close j and wait for its background work, which would
// otherwise make files while the test's directory is being removed. The test may close j
// earlier.
func CloseAtEnd(t testing.TB, j *record.Recorder) {
	t.Cleanup(func() {
		j.Close()
		j.Wait()
	})
}
