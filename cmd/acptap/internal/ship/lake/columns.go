package lake

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// On says whose tape a row is of. All tables begin with it.
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

// on returns what is known of the tape now. The agent is called as acptap stats calls it.
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

// micros returns the time of day of a time on the tape in microseconds since 1970, and 0,
// which stands for an unknown one, if nobody knows when the tape began.
func (b *Builder) micros(since time.Duration) int64 {
	if b.tape.Start.IsZero() {
		return 0
	}
	return b.tape.Start.Add(since).UnixMicro()
}

// moment is micros of a time that may be unknown.
func (b *Builder) moment(since time.Duration, untimed bool) int64 {
	if untimed {
		return 0
	}
	return b.micros(since)
}

// seconds returns a time that is known.
func seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// secondsIf returns a time that may be unknown.
func secondsIf(known bool, d time.Duration) *float64 {
	if !known {
		return nil
	}
	return seconds(d)
}

// given returns a number that may not have been given.
func given(n trace.Count) *int64 {
	if !n.Given {
		return nil
	}
	v := int64(n.N)
	return &v
}

// errorCode returns the code of a JSON-RPC error, which is an integer (section 5.1); nil if
// there is none.
func errorCode(reason string) *int64 {
	code, err := strconv.ParseInt(reason, 10, 64)
	if err != nil {
		return nil
	}
	return &code
}

// maxText is how long a name from the traffic may be in a row, in bytes.
const maxText = 1 << 10

// text makes a name of the traffic fit for a column, which takes UTF-8.
func text(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
