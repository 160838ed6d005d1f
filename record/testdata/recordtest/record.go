// Package recordtest records tapes in the tests of several packages.
package recordtest

import (
	"testing"

	"github.com/acptap/acptap/record"
)

// Record begins a tape. The end of the test closes the Recorder and waits for its
// background work, which would otherwise make files while the test's directory is being
// removed. The test may close it earlier.
func Record(t testing.TB, store *record.Store, start record.Start) *record.Recorder {
	t.Helper()
	j, err := store.Record(start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Close()
		j.Wait()
	})
	return j
}
