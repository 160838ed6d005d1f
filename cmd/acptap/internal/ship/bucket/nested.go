package bucket

import (
	"net/http"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
)

// metaNested is the metadata of a tape that lists the IDs of its nested tapes, so that
// whoever pulls it can pull those, too.
const metaNested = "Nested"

// maxNested limits the IDs in the metadata, because S3 accepts 2 KB of it.
const maxNested = 60

// idsOf returns the IDs of tapes in the form of the metadata.
func idsOf(tapes []record.Info) string {
	ids := make([]string, min(len(tapes), maxNested))
	for i := range ids {
		ids[i] = tapes[i].Tape
	}
	return strings.Join(ids, " ")
}

// nestedIn returns the IDs in the metadata.
func nestedIn(about map[string]string) (tapes []string) {
	for _, tape := range strings.Fields(about[http.CanonicalHeaderKey(metaNested)]) {
		if tapeid.IsValid(tape) && len(tapes) < maxNested {
			tapes = append(tapes, tape)
		}
	}
	return tapes
}
