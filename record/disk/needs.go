package disk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Needs lets what is on disk grow: the head of a segment, of a block, of a portable file
// and the facts of a tape name what a reader must know in order not to misread what
// follows. A reader that knows all of it reads on, past whatever else it does not know;
// one that does not refuses exactly that.
//
// Version numbers are for changes after which a reader could not even find the names.
type Needs []string

// The names.
const (
	// NeedsRules: lines of a portable file that are the mark of a rule. In all other
	// places these are passed over by who does not know them.
	NeedsRules = "rules"

	// NeedsStreams: streams of HTTP and WebSocket: records with a slot and of the kind
	// stream, and the columns stream and lead.
	NeedsStreams = "streams"
)

// maxNeedsTold is how many names an error tells.
const maxNeedsTold = 3

// Version returns the version of what needs all that is on the list.
func (l Needs) Version() int {
	if slices.Contains(l, NeedsStreams) {
		return FormatStreams
	}
	return Format
}

// Check returns an error that is ErrNewer if something on the list is not
// known here. what is that which needs it.
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

// CheckNeeds is Check for the member "needs" of an object that may have other
// members of types that nobody expects. What has no such list needs nothing.
func CheckNeeds(what string, object []byte) error {
	var head struct{ Needs Needs }
	if json.Unmarshal(object, &head) != nil {
		return nil
	}
	return head.Needs.Check(what)
}
