package lake

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// On identifies the tape of a row. All tables begin with its columns.
type On struct {
	Tape            string `parquet:"tape,dict"`
	TapeStart       int64  `parquet:"tape_start,optional,dict,timestamp(microsecond)"`
	Agent           string `parquet:"agent,optional,dict"`
	AgentVersion    string `parquet:"agent_version,optional,dict"`
	Client          string `parquet:"client,optional,dict"`
	ClientVersion   string `parquet:"client_version,optional,dict"`
	Protocol        string `parquet:"protocol,optional,dict"`
	ProtocolVersion string `parquet:"protocol_version,optional,dict"`
	ParentTape      string `parquet:"parent_tape,optional,dict"`
	Server          string `parquet:"server,optional,dict"`
}

// on returns what is known about the tape so far. It names the agent as acptap stats
// does.
func (b *Builder) on() On {
	c := b.trace.Runs[0]
	named := &c
	if c.Agent == "" {
		named = &b.tape.Connection
	}
	on := On{
		Tape: b.tape.ID, TapeStart: b.micros(0),
		Agent: text(cmp.Or(named.Agent, b.tape.Agent)), AgentVersion: text(named.AgentVersion),
		Client: text(c.Client), ClientVersion: text(c.ClientVersion), ProtocolVersion: text(c.Version),
		ParentTape: b.tape.Parent, Server: text(b.tape.Server),
	}
	if c.Protocol != dialect.AnyProtocol {
		on.Protocol = c.Protocol.String()
	}
	return on
}

// micros converts a tape time to microseconds since 1970, or to 0, which means unknown,
// if the tape's start is unknown.
func (b *Builder) micros(since time.Duration) int64 {
	if b.tape.Start.IsZero() {
		return 0
	}
	return b.tape.Start.Add(since).UnixMicro()
}

// moment is like micros, for a time that may be unknown.
func (b *Builder) moment(since time.Duration, untimed bool) int64 {
	if untimed {
		return 0
	}
	return b.micros(since)
}

// seconds returns a known duration in seconds.
func seconds(d time.Duration) *float64 {
	s := termtext.Seconds(d).Float()
	return &s
}

// secondsIf returns a duration in seconds, or nil unless it is known.
func secondsIf(known bool, d time.Duration) *float64 {
	if !known {
		return nil
	}
	return seconds(d)
}

// given returns a number, or nil if it was not given.
func given(n trace.Count) *int64 {
	if !n.Given {
		return nil
	}
	v := int64(n.N)
	return &v
}

// errorCode returns the code of a JSON-RPC error, which is an integer (section 5.1), or nil
// if there is none.
func errorCode(reason string) *int64 {
	code, err := strconv.ParseInt(reason, 10, 64)
	if err != nil {
		return nil
	}
	return &code
}

// maxText limits a row's names from the traffic, in bytes.
const maxText = 1 << 10

// text makes a name from the traffic valid for a column: short, and in UTF-8.
func text(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
