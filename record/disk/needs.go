package disk

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Needs lets the formats on disk grow: the head of a segment, of a block and of a
// portable file and the facts of a tape list what a reader must know to understand the
// rest. A reader that knows everything listed ignores other unknown parts; any other
// reader refuses exactly that part.
//
// Version numbers are for changes after which a reader could not even find the list.
type Needs []string

// The names.
const (
	// NeedsRules: lines of a portable file that are marks of rules. Elsewhere readers may
	// ignore those.
	NeedsRules = "rules"

	// NeedsStreams: streams of HTTP and WebSocket: records with a slot and of the kind
	// stream, and the columns stream and lead.
	NeedsStreams = "streams"
)

// maxNeedsTold limits the names that an error lists.
const maxNeedsTold = 3

// Check returns an error that is ErrNewer if a name on the list is unknown. what names the
// thing that needs it.
func (l Needs) Check(what string) error {
	var unknown []string
	for _, name := range l {
		if name != NeedsRules && name != NeedsStreams {
			unknown = append(unknown, fmt.Sprintf("%.40q", name))
		}
	}
	switch n := len(unknown); {
	case n == 0:
		return nil
	case n > maxNeedsTold:
		unknown = append(unknown[:maxNeedsTold], "…")
	}
	return fmt.Errorf("%s needs %s: %w", what, strings.Join(unknown, ", "), ErrNewer)
}

// CheckNeeds is Check for the member "needs" of an object, whose other members may have any
// types. An object without such a list needs nothing.
func CheckNeeds(what string, object []byte) error {
	var head struct{ Needs Needs }
	if json.Unmarshal(object, &head) != nil {
		return nil
	}
	return head.Needs.Check(what)
}
