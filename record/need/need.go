// Package need lets what is on disk grow: the head of a segment, of a block, of a
// portable file and the facts of a tape name what a reader must know in order not
// to misread what follows. A reader that knows all of it reads on, whatever else
// is there that it does not know; one that does not refuses exactly that.
//
// Numbers of versions beside it are for changes after which not even the names
// could be found.
package need

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/disk"
)

// A List names what a reader must know.
type List []string

// The names.
const (
	// Rules: lines of a portable file that are the mark of a rule. In all other
	// places these are passed over by who does not know them.
	Rules = "rules"

	// Streams are those of HTTP and WebSocket: records with a slot and of the kind
	// stream, and the columns stream and lead.
	Streams = "streams"
)

// maxTold is how many names an error tells.
const maxTold = 3

// Version returns the version of what needs all that is on the list.
func (l List) Version() int {
	if slices.Contains(l, Streams) {
		return disk.FormatStreams
	}
	return disk.Format
}

// Check returns an error that is disk.ErrNewer if something on the list is not
// known here. what is that which needs it.
func (l List) Check(what string) error {
	var unknown []string
	for _, name := range l {
		if name != Rules && name != Streams {
			unknown = append(unknown, fmt.Sprintf("%.40q", name))
		}
	}
	switch n := len(unknown); {
	case n == 0:
		return nil
	case n > maxTold:
		unknown = append(unknown[:maxTold], "…")
	}
	return fmt.Errorf("%s needs %s: %w", what, strings.Join(unknown, ", "), disk.ErrNewer)
}

// CheckJSON is Check for the member "needs" of an object that may have other
// members of types that nobody expects. What has no such list needs nothing.
func CheckJSON(what string, object []byte) error {
	var head struct{ Needs List }
	if json.Unmarshal(object, &head) != nil {
		return nil
	}
	return head.Needs.Check(what)
}
