// Package summary says in a few lines what happened on a tape: what it is, its turns,
// what they waited for, the servers that were called, what they used, and what failed. A
// Tally processes any number of frames of one or more tapes in bounded memory; its
// Summary is available at any time, as lines for a screen and as JSON. The package reads
// and draws nothing.
package summary

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Summary says what happened on a tape, or on the tapes of a session. Its JSON has
// times in seconds and omits numbers that the agent did not report.
type Summary struct {
	Tapes   []record.Info `json:"-"`
	Session string        `json:"-"` // its id, if there is only one
	Title   string        `json:"-"` // of that session
	Ref     string        `json:"-"` // how commands name the tapes; empty: unknown

	Frames   uint64  `json:"frames" help:"messages of both sides"`
	Took     seconds `json:"seconds,omitzero" help:"how long the tapes took"`
	Untimed  bool    `json:"untimed,omitempty" help:"true: the times of frames are not known"`
	Broken   int     `json:"unreadable,omitempty" help:"how many parts of the tapes cannot be read"`
	Sessions int     `json:"sessions" help:"how many"`

	Exchanges []Exchange `json:"exchanges,omitempty" help:"the turns: of more than six in a session the first, the last, and those between that ended worst, each with the turn after it:"`
	Parts     []Part     `json:"parts,omitempty" help:"of several sessions with turns, the first ones and the last one:"`

	Left []string `json:"left,omitempty" help:"sentences of the last answer that say that something is not done, or what the user is to do, at most two"`

	Dir    string   `json:"directory,omitempty" help:"without turns, the directory that has most of the files that tools were given"`
	Called []Called `json:"called,omitempty" help:"without turns, calls of tools: of more than twenty the first, the last, and those between that failed; frame is that of the request:"`

	all []Called // as far as they are kept

	Turns   Turns    `json:"turns" help:"how many, and how they ended:"`
	Calls   []Call   `json:"calls,omitempty" help:"without turns, by method, the most frequent first:"`
	Ran     []Count  `json:"ran,omitempty" help:"commands that tool calls ran, by program and subcommand, the most frequent first, at most sixteen:"`
	Changes []Change `json:"changes,omitempty" help:"files that tool calls in turns changed, the first change first, at most 64:"`
	Tools   []Tool   `json:"tools,omitempty" help:"tool calls in turns, by name or kind, the first call first, or of more than 20 calls the most frequent:"`
	Time    Time     `json:"time" help:"how long things took:"`

	Servers  []Server          `json:"servers,omitempty" help:"calls of MCP servers, most calls first; call is SERVER/TOOL, or SERVER METHOD:"`
	Uncalled []nested.Uncalled `json:"uncalled,omitempty" help:"MCP servers that acptap was asked to record and the agent never called; code and seconds are of an exit:"`
	Usage    Usage             `json:"usage,omitzero" help:"turns that report tokens, and what all report; running is true for ~:"`

	Failures Failures   `json:"failures" help:"what failed; worst has those first that were not mended, at most sixteen, with the line of stderr before it if that may say why; unmended counts also calls that completed with a bad exit status:"`
	Found    Found      `json:"found,omitzero" help:"what acptap check finds, except notes; hurts has what is allowed, but known to hurt a peer:"`
	Rejected Rejections `json:"rejected,omitzero" help:"what the user rejected, declined or dismissed; first has at most three:"`
	Stopped  []Step     `json:"stopped,omitempty" help:"tool calls that ran when the user cancelled their turns:"`
	Slow     []Slow     `json:"slow,omitempty" help:"by kind, as in acptap watch:"`
	Retries  *Retries   `json:"retries,omitempty" help:"lines of stderr that say that the model was busy or that the agent tries again:"`
	Rules    []Count    `json:"rules,omitempty" help:"rules that changed the traffic, most frequent first:"`
}

// Turns says how turns ended.
type Turns struct {
	Count   int     `json:"count"`
	Running int     `json:"running,omitempty"` // on a tape that is still being recorded
	Ends    []Count `json:"ends,omitempty"`    // by outcome, most frequent first
}

// A Count says how often something happened.
type Count struct {
	What  string `json:"what"`
	Count int    `json:"count"`

	failed int         // of calls of tools
	how    dialect.How // of turns: the outcome that What names
}

// A Tool says how often tools of one name or kind were called.
type Tool struct {
	What   string   `json:"what"`
	Count  int      `json:"count"`
	Failed int      `json:"failed,omitempty"`
	Open   int      `json:"unfinished,omitempty"`
	Titles []string `json:"titles,omitempty"` // of the first maxTitles that differ; of changes of files, the files' names

	files bool // these are files' names
	more  bool // and these are not all of them
}

// A Call says how often a method was called.
type Call struct {
	Method string  `json:"method"`
	Count  int     `json:"count"`
	Tools  []Count `json:"tools,omitempty"` // of tools/call
}

// A Time says how long things took.
type Time struct {
	StartUp     seconds  `json:"startUp,omitzero"` // from the first set-up call to the end of the last, before the first turn of each tape
	Idle        seconds  `json:"idle,omitzero"`    // neither that nor a turn; without turns: no call
	Pause       *Pause   `json:"longestIdle,omitempty"`
	FirstOutput *Spread  `json:"firstOutput,omitempty"` // from a prompt to the first output of its turn
	Latency     *Spread  `json:"latency,omitempty"`     // only without turns: of the client's calls
	Waited      Waited   `json:"waited,omitzero"`       // all turns together; a time that several were open counts once
	Beside      Waited   `json:"beside,omitzero"`       // how long the others waited then
	Subagents   seconds  `json:"subagents,omitzero"`    // tool calls by which subagents worked; several at once count each
	Silences    int      `json:"silences,omitempty"`    // in turns
	Limited     *Limited `json:"limited,omitempty"`     // of the time that turns waited for the agent
	Spent       []Spent  `json:"spent,omitempty"`       // only without turns: by tool or method, the longest first
	Slowest     []Step   `json:"slowest,omitempty"`     // at most three, the slowest first
}

// A Spread is the median and the longest time of several things.
type Spread struct {
	Count  int     `json:"count"`
	Median seconds `json:"median"`
	Worst  seconds `json:"worst"`
	Frame  Frame   `json:"worstFrame"` // first frame of the slowest
}

// A Waited says how long turns waited for each part.
type Waited struct {
	User   seconds `json:"user"`
	Client seconds `json:"client"`
	Tool   seconds `json:"tool"`
	Agent  seconds `json:"agent"`
}

func waitedOf(s trace.Spend) Waited {
	return Waited{seconds(s.User), seconds(s.Client), seconds(s.Tool), seconds(s.Agent)}
}

// A Step is something that took time.
type Step struct {
	What  string  `json:"what"`
	Took  seconds `json:"seconds"`
	Frame Frame   `json:"frame"` // its first frame; for a silence, the last frame before it
}

// A Usage is what the agent reports to have used.
type Usage struct {
	Turns   int          `json:"turns,omitempty"` // that reported their tokens
	Tokens  trace.Tokens `json:"tokens,omitzero"`
	Running bool         `json:"running,omitempty"` // Tokens are those of the last turn, which seem to cover the whole session
	Context *Context     `json:"context,omitempty"` // of the reporting session with the last frame
	Costs   []Cost       `json:"costs,omitempty"`   // one per currency
}

func (u Usage) reported() bool { return u.Turns > 0 || u.Context != nil || len(u.Costs) > 0 }

// A Context says how much of the model's context is used.
type Context struct {
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
	Peak uint64 `json:"peak"`
}

// A Cost is what sessions have cost since they began, possibly on another tape.
type Cost struct {
	dialect.Cost
	Sessions int `json:"sessions"`
}

// Failures lists what failed.
type Failures struct {
	Count int       `json:"count"`
	Kinds []Failed  `json:"kinds,omitempty"` // most frequent first
	Worst []Failure `json:"worst,omitempty"` // those that were not mended first; at most maxTold

	Mended   int `json:"mended,omitempty"`   // of Count, as far as is known
	Unmended int `json:"unmended,omitempty"` // these include calls that are not in Count: they completed with a bad exit status

	joined int // requests that a failed tool call tells
	none   int // tool calls that failed because they found nothing
	quiet  int // tool calls that failed, though they completed by their status
}

// A Failed says how often something of one kind failed.
type Failed struct {
	Kind  dialect.Failure `json:"kind"`
	Count int             `json:"count"`
	What  string          `json:"first"` // the first of them
	Frame Frame           `json:"firstFrame"`
}

// A Failure is something that failed.
type Failure struct {
	Kind   dialect.Failure `json:"kind"`
	What   string          `json:"what"`
	Frame  Frame           `json:"frame"`
	Stderr *Quote          `json:"stderr,omitempty"` // what the agent wrote before; nil if there is nothing, or the failure has a message

	Again *Again `json:"again,omitempty"`     // the same failed again; nil: it did not
	Fate  string `json:"fate,omitempty"`      // what came of it: not mended, or what succeeded
	Later Frame  `json:"laterFrame,omitzero"` // with which that succeeded

	Since   string `json:"since,omitempty"`   // what was done after it: until the same succeeded, or at all
	Comment string `json:"comment,omitempty"` // what the agent said after it before it did something else

	why       string // What ends with it; empty: it is not known
	tried     attempt
	after     aftermath
	open      bool // it could be mended, and was not
	passed    bool // its turn was done all the same
	wentOn    bool // nothing tells that it was mended, but the work went on
	uncounted bool // no frame says so: the call completed by its status, or stderr tells it
	joined    bool // the tool call tells it that it was for
	grave     bool // it is worse than a tool call that failed
}

// An Again says how often the same failed again before it was mended, and how at last.
type Again struct {
	Count int    `json:"count"`
	Why   string `json:"why,omitempty"` // empty: for the same reason, or it is not known
	Frame Frame  `json:"frame"`         // of the last time
}

// A Slow says how often something of one kind came late.
type Slow struct {
	Kind    string  `json:"kind"` // the name of a dialect.Slow
	Count   int     `json:"count"`
	Longest seconds `json:"longest,omitzero"`
	Frame   Frame   `json:"longestFrame"` // with which the longest wait ended
}

// A Frame is a frame of one of the tapes.
type Frame struct {
	Run   int    // index of the tape
	Seq   uint64 // its number there
	Label string // its number as users know it, after the tape's if there are several
}

// MarshalJSON returns the label, as a number if it is one.
func (f Frame) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(f.Label, 10, 64); err == nil {
		return []byte(f.Label), nil
	}
	return json.Marshal(f.Label)
}

// seconds is a time exported in seconds.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	return termtext.Seconds(s).MarshalJSON()
}

// A Head is the part of a Summary's JSON about its tapes, which comes first.
type Head struct {
	Tapes         []string   `json:"tapes" help:"ids"`
	Agent         string     `json:"agent,omitempty" help:"the name that the agent reports"`
	AgentVersion  string     `json:"agentVersion,omitempty" help:"its version"`
	Client        string     `json:"client,omitempty" help:"the name that the client reports"`
	ClientVersion string     `json:"clientVersion,omitempty" help:"its version"`
	Protocol      string     `json:"protocol" help:"acp or mcp"`
	Dialect       string     `json:"dialect" help:"v1, v2-early, v2, legacy or modern"`
	Version       string     `json:"version,omitempty" help:"the protocol version that both sides agreed on"`
	Started       *time.Time `json:"started,omitempty" help:"RFC 3339"`
	Outcome       string     `json:"outcome" help:"how the tapes came out, as STATE in acptap ls"`
	Session       string     `json:"session,omitempty" help:"id of the session, if there is only one"`
	Title         string     `json:"title,omitempty" help:"title of that session"`
}

// MarshalJSON returns the fields about the tapes, followed by the rest.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	head := Head{Tapes: []string{}, Session: s.Session, Title: s.Title}
	for _, i := range s.Tapes {
		head.Tapes = append(head.Tapes, i.Tape)
	}
	if len(s.Tapes) > 0 {
		c := s.connection()
		head.Agent, head.AgentVersion, head.Client, head.ClientVersion = c.Agent, c.AgentVersion, c.Client, c.ClientVersion
		head.Protocol, head.Dialect, head.Version = c.Protocol.String(), c.Dialect.String(), c.Version
		if t := s.Tapes[0].Start.Time; !t.IsZero() {
			head.Started = &t
		}
		head.Outcome = tapetext.OutcomeText(s.Outcome())
	}
	return json.Marshal(struct {
		Head
		plain
	}{head, plain(s)})
}
