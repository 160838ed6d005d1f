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

// An Info is what the store knows of a tape without reading its frames.
type Info struct {
	Tape  string `json:"tape"`
	Start Start  `json:"start"`

	Frames   uint64          `json:"frames"`   // that client and agent have sent
	Lines    uint64          `json:"lines"`    // number of the last line: frames, lines of stderr and marks have numbers
	Bytes    int64           `json:"bytes"`    // of those frames, without their line ends
	Failed   uint64          `json:"failed"`   // responses with an error
	Invalid  uint64          `json:"invalid"`  // lines of client and agent that are no JSON-RPC
	Lost     int64           `json:"lost"`     // bytes that are not on the tape
	Failures uint64          `json:"failures"` // frames that are a dialect.Failure, with those unanswered once the tape has ended
	Sessions uint64          `json:"sessions"`
	Turns    uint64          `json:"turns"`
	Worst    dialect.Outcome `json:"worst,omitzero"`  // of its turns that have ended, and of the agent
	Rules    uint64          `json:"rules,omitempty"` // marks of rules: they have changed the traffic
	Last     time.Duration   `json:"last"`            // ns since the start, of the last line

	Ended time.Time  `json:"ended,omitzero"`
	Exit  *wire.Exit `json:"exit,omitempty"` // nil while the agent runs, and if the proxy was killed

	Streams uint64 `json:"streams,omitempty"` // HTTP exchanges and WebSockets
	Closed  string `json:"closed,omitempty"`  // why a tape with streams has ended, which has no Exit
	Guessed bool   `json:"guessed,omitempty"` // no id tied requests to the tape: those of two clients may be on it

	Connection dialect.Connection `json:"connection"`

	Tags  []string `json:"tags,omitempty"`  // what is written on it; only Store.List tells
	Notes int      `json:"notes,omitempty"` // how many; likewise

	Imported bool `json:"imported,omitempty"` // from a file: no proxy of this store has recorded it
	Complete bool `json:"complete"`           // the proxy has ended and all of its journal is sealed
	Live     bool `json:"live"`               // a proxy is recording it now
	Partial  bool `json:"partial"`            // only what is sealed is counted here, and the end is not known: see Store.List
}

// Outcome returns how the tape came out: how the recording or its agent ended, or else the
// worst of its turns.
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

// Agent returns what ties sessions to an agent: the name that the user gave it,
// else the program's name with a hash of the whole command line, or the URL that it is
// reached by.
func (i Info) Agent() string {
	s := i.Start
	if s.Name != "" || len(s.Command) == 0 {
		return cmp.Or(s.Name, s.Upstream)
	}
	sum := sha256.Sum256([]byte(strings.Join(s.Command, "\x00")))
	return fmt.Sprintf("%s-%x", filepath.Base(s.Command[0]), sum[:4])
}

// Redacted returns i without the secrets in it: those of the command line, and what looks
// like one in names and in the URL.
func (i Info) Redacted() Info {
	s, c := &i.Start, &i.Connection
	s.Command = redact.Command(s.Command)
	for _, text := range []*string{
		&s.Cwd, &s.Name, &s.Upstream, &s.Parent.Server, &c.Version, &c.Client, &c.ClientVersion, &c.Agent, &c.AgentTitle, &c.AgentVersion,
	} {
		*text = redact.Text(*text)
	}
	return i
}

// tally counts a frame that client or agent sent, and notes what it tells of its
// session. What acptap made, or put in the place of another frame, is not counted:
// nobody said it, or somebody said it once.
func (d *dissector) tally(f *wire.Frame, note *dialect.Annotation, facts *dialect.SessionFacts) {
	i := &d.Info
	i.Lines, i.Last = f.Seq, f.At
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
	if f.Origin.Sent() {
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
