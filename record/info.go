package record

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/portable"
)

// An Info is what the store knows of a tape without reading its frames.
type Info struct {
	Tape  string `json:"tape"`
	Start Start  `json:"start"`

	Frames   uint64        `json:"frames"`  // that client and agent have sent
	Lines    uint64        `json:"lines"`   // number of the last line: frames, lines of stderr and marks have numbers
	Bytes    int64         `json:"bytes"`   // of those frames, without their line ends
	Failed   uint64        `json:"failed"`  // responses with an error
	Invalid  uint64        `json:"invalid"` // lines of client and agent that are no JSON-RPC
	Lost     int64         `json:"lost"`    // bytes that are not on the tape
	Sessions uint64        `json:"sessions"`
	Turns    uint64        `json:"turns"`
	Last     time.Duration `json:"last"` // ns since the start, of the last line

	Ended time.Time  `json:"ended,omitzero"`
	Exit  *wire.Exit `json:"exit,omitempty"` // nil while the agent runs, and if the proxy was killed

	Connection dialect.Connection `json:"connection"`

	Imported bool `json:"imported,omitempty"` // from a file: no proxy of this store has recorded it
	Complete bool `json:"complete"`           // the proxy has ended and all of its journal is sealed
	Live     bool `json:"live"`               // a proxy is recording it now
	Partial  bool `json:"partial"`            // only what is sealed is counted here, and the end is not known: see Store.List
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

// Agent returns what ties sessions to an agent: the name that the user gave it,
// else the program's name with a hash of the whole command line.
func (i Info) Agent() string {
	s := i.Start
	if s.Name != "" || len(s.Command) == 0 {
		return s.Name
	}
	sum := sha256.Sum256([]byte(strings.Join(s.Command, "\x00")))
	return fmt.Sprintf("%s-%x", filepath.Base(s.Command[0]), sum[:4])
}

// infoVersion stands before each flat Info and SessionInfo.
const infoVersion = 1

// flat returns the Info as the catalogue keeps it: ten thousand of them are read
// for one listing (BenchmarkList).
func (i *Info) flat() []byte {
	w := &writer{}
	w.byte(infoVersion)
	w.text(i.Tape)
	w.time(i.Start.Time)
	w.uint(uint64(len(i.Start.Command)))
	for _, arg := range i.Start.Command {
		w.text(arg)
	}
	w.text(i.Start.Cwd)
	w.text(i.Start.Name)
	w.text(i.Start.Version)
	w.text(i.Start.Proto)
	w.uint(uint64(i.Start.PID))
	for _, n := range []uint64{i.Frames, i.Lines, uint64(i.Bytes), i.Failed, i.Invalid, uint64(i.Lost), i.Sessions, i.Turns, uint64(i.Last)} {
		w.uint(n)
	}
	w.bool(i.Complete)
	w.time(i.Ended)
	w.bool(i.Exit != nil)
	if i.Exit != nil {
		w.uint(uint64(uint32(i.Exit.Code)))
		w.text(i.Exit.Signal)
		w.text(i.Exit.Error)
		for _, n := range i.Exit.Delivered {
			w.uint(uint64(n))
		}
	}
	c := &i.Connection
	w.byte(byte(c.Protocol))
	w.byte(byte(c.Dialect))
	w.byte(byte(c.Proposal))
	w.bool(c.Hybrid)
	for _, s := range []string{c.Version, c.Client, c.ClientVersion, c.Agent, c.AgentVersion, c.AgentTitle} {
		w.text(s)
	}
	w.bool(i.Imported)
	return w.b
}

// parseInfo reads what flat wrote.
func parseInfo(b []byte) (Info, error) {
	r := &reader{b: b}
	if v := r.byte(); v != infoVersion {
		return Info{}, fmt.Errorf("facts of a tape in version %d: %w", v, ErrNewer)
	}
	var i Info
	i.Tape = r.text()
	i.Start.Time = r.time()
	n := r.count()
	i.Start.Command = make([]string, 0, min(n, 64))
	for ; n > 0 && !r.bad; n-- {
		i.Start.Command = append(i.Start.Command, r.text())
	}
	i.Start.Cwd, i.Start.Name, i.Start.Version, i.Start.Proto = r.text(), r.text(), r.text(), r.text()
	i.Start.PID = int(r.uint())
	i.Frames, i.Lines, i.Bytes, i.Failed, i.Invalid = r.uint(), r.uint(), int64(r.uint()), r.uint(), r.uint()
	i.Lost, i.Sessions, i.Turns, i.Last = int64(r.uint()), r.uint(), r.uint(), time.Duration(r.uint())
	i.Complete = r.bool()
	i.Ended = r.time()
	if r.bool() {
		i.Exit = &wire.Exit{Code: int(int32(r.uint())), Signal: r.text(), Error: r.text()}
		for k := range i.Exit.Delivered {
			i.Exit.Delivered[k] = int64(r.uint())
		}
	}
	c := &i.Connection
	c.Protocol, c.Dialect, c.Proposal, c.Hybrid = dialect.Protocol(r.byte()), dialect.Dialect(r.byte()), dialect.Proposal(r.byte()), r.bool()
	c.Version, c.Client, c.ClientVersion, c.Agent, c.AgentVersion = r.text(), r.text(), r.text(), r.text(), r.text()
	if len(r.b) > 0 { // it is younger than the others
		c.AgentTitle = r.text()
	}
	if i.Imported = i.Start.PID == 0; len(r.b) > 0 { // so is this; every proxy has a PID
		i.Imported = r.bool()
	}
	if r.bad || i.Lines > portable.MaxSeq {
		return Info{}, fmt.Errorf("facts of a tape: %w", ErrDamaged)
	}
	return i, nil
}
