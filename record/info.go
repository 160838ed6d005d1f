package record

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/redact"
)

// An Info is what the store knows about a tape without reading its frames.
type Info struct {
	Tape  string `json:"tape"`
	Start Start  `json:"start"`

	Frames   uint64          `json:"frames"`   // sent by client and agent
	Lines    uint64          `json:"lines"`    // number of the last line: frames, lines of stderr and marks have numbers
	Bytes    int64           `json:"bytes"`    // of those frames, without their line ends
	Failed   uint64          `json:"failed"`   // responses with an error
	Invalid  uint64          `json:"invalid"`  // lines from client and agent that are not JSON-RPC
	Lost     int64           `json:"lost"`     // bytes that are not on the tape
	Failures uint64          `json:"failures"` // frames that are a dialect.Failure, plus unanswered requests once the tape has ended
	Sessions uint64          `json:"sessions"`
	Turns    uint64          `json:"turns"`
	Worst    dialect.Outcome `json:"worst,omitzero"`    // of its turns that have ended, and of the agent
	Rules    uint64          `json:"rules,omitempty"`   // marks of rules that have changed the traffic
	Changed  uint64          `json:"changed,omitempty"` // frames that acptap made, changed or withheld
	First    time.Duration   `json:"first"`             // ns since the start, of the first line
	Last     time.Duration   `json:"last"`              // the same, of the latest line

	Ended time.Time  `json:"ended,omitzero"`
	Exit  *wire.Exit `json:"exit,omitempty"` // nil while the agent runs, and if the proxy was killed

	Streams uint64 `json:"streams,omitempty"` // HTTP exchanges and WebSockets
	Closed  string `json:"closed,omitempty"`  // why a tape with streams ended; such a tape has no Exit
	Guessed bool   `json:"guessed,omitempty"` // no id tied requests to the tape, so it may mix two clients

	Connection dialect.Connection `json:"connection"`

	Tags  []string `json:"tags,omitempty"`  // set only by Store.List
	Notes int      `json:"notes,omitempty"` // their number; set only by Store.List

	Imported bool `json:"imported,omitempty"` // from a file, not recorded by a proxy of this store
	Complete bool `json:"complete"`           // the proxy has ended and its whole journal is sealed
	Live     bool `json:"live"`               // a proxy is recording it now
	Partial  bool `json:"partial"`            // counts only what is sealed, and the end is unknown: see Store.List
}

// Outcome returns how the tape ended: how the recording or its agent ended, or else the
// worst outcome of its turns.
func (i Info) Outcome() dialect.Outcome {
	ended := i.Exit != nil || i.Closed != "" || i.Imported
	switch {
	case i.Live:
		return dialect.Outcome{How: dialect.Running}
	case !ended && !i.Partial:
		return i.Worst.Or(dialect.Outcome{How: dialect.CutOff})
	}
	return i.Worst.Or(dialect.Outcome{How: dialect.Done})
}

// Took returns how long the tape took, from its first line to the latest. It is 0 if no
// line has a time.
func (i Info) Took() time.Duration { return i.Last - i.First }

// line notes the number and the time of a line.
func (i *Info) line(f *wire.Frame) {
	if i.Lines == 0 {
		i.First = f.At
	}
	i.Lines, i.Last = f.Seq, max(i.Last, f.At)
}

func (i Info) protocol() dialect.Protocol {
	switch i.Start.Proto {
	case "acp":
		return dialect.ACP
	case "mcp":
		return dialect.MCP
	}
	return dialect.AnyProtocol
}

// Needs returns what a reader of the tape in the portable form must know.
func (i Info) Needs() disk.Needs {
	var l disk.Needs
	if i.Rules > 0 {
		l = append(l, disk.NeedsRules)
	}
	if i.Streams > 0 {
		l = append(l, disk.NeedsStreams)
	}
	return l
}

// Agent returns the name that ties sessions to an agent: the one given by the user, or
// else the program's name with a hash of the whole command line, or its URL.
func (i Info) Agent() string {
	s := i.Start
	if s.Name != "" || len(s.Command) == 0 {
		return cmp.Or(s.Name, s.Upstream)
	}
	sum := sha256.Sum256([]byte(strings.Join(s.Command, "\x00")))
	return fmt.Sprintf("%s-%x", filepath.Base(s.Command[0]), sum[:4])
}

// Redacted returns i without secrets: those in the command line, and anything that looks
// like one in names and in the URL.
func (i Info) Redacted() Info {
	s, c := &i.Start, &i.Connection
	s.Command = redact.Command(s.Command)
	for _, text := range []*string{
		&s.Cwd, &s.Name, &s.Upstream, &s.Parent.Server, &c.Version, &c.Client, &c.ClientTitle, &c.ClientVersion, &c.Agent, &c.AgentTitle, &c.AgentVersion, &i.Worst.Text,
	} {
		*text = redact.Text(*text)
	}
	return i
}

// tally counts a frame that client or agent sent, and notes what it says about its
// session. It does not count frames that acptap made or substituted: no peer sent those,
// or they are already counted.
func (d *dissector) tally(f *wire.Frame, note *dialect.Annotation, facts *dialect.SessionFacts) {
	i := &d.Info
	i.line(f)
	if f.Origin != wire.Rewritten && dialect.FailureOf(f, note) != dialect.NoFailure { // as dialect.Frame.Failure
		i.Failures++
	}
	i.Worst = i.Worst.Or(facts.Outcome)
	if note.Events.Has(dialect.ExitFailed) {
		i.Worst = i.Worst.Or(dialect.DiedOf(wire.ReadMark(*f).Exit))
	}
	if f.Kind == wire.Mark || f.Kind == wire.Stderr {
		return
	}
	if f.Counts() {
		i.Frames++
		i.Bytes += f.Size
		if f.Kind == wire.Invalid {
			i.Invalid++
		}
		if f.Failed {
			i.Failed++
		}
		if note.Events.Has(dialect.TurnBegan) {
			i.Turns++
		}
	}
	if len(note.Entries) == 0 {
		d.session(f, note, facts)
	}
	for k := range note.Entries {
		d.session(f, &note.Entries[k], facts)
	}
}
