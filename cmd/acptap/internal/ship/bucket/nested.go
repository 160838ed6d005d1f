package bucket

import (
	"net/http"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
)

// The metadata of a tape in which others are nested has their ids, so that who pulls the
// one can pull the others.
const metaNested = "Nested"

// maxNested is how many ids are in the metadata: S3 takes 2 KB of it.
const maxNested = 60

// idsOf returns the ids of tapes as they stand in the metadata.
func idsOf(tapes []record.Info) string {
	ids := make([]string, min(len(tapes), maxNested))
	for i := range ids {
		ids[i] = tapes[i].Tape
	}
	return strings.Join(ids, " ")
}

// nestedIn returns the ids that metadata has.
func nestedIn(about map[string]string) (tapes []string) {
	for _, tape := range strings.Fields(about[http.CanonicalHeaderKey(metaNested)]) {
		if tapeid.IsValid(tape) && len(tapes) < maxNested {
			tapes = append(tapes, tape)
		}
	}
	return tapes
}
