package report

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/termtext"
)

// A table holds the rows by column, and what they refer to. Saved pages contain it in
// this form.
type table struct {
	Format int      `json:"format"` // 1
	Ref    string   `json:"ref"`    // name of the tapes in commands
	Tapes  []listed `json:"tapes"`
	Runs   int      `json:"runs"`  // number of the agent's tapes, which come before those of servers; 0: see listed.Side
	Names  []string `json:"names"` // columns of names hold indexes into it; the first is empty
	Hues   letters  `json:"hues"`  // of names: an index into hues
	Out    int      `json:"out"`   // frames that did not fit

	Seq    []uint64 `json:"seq"`   // difference from the previous row on the tape
	At     []int64  `json:"at"`    // ns, likewise
	Asked  []uint64 `json:"asked"` // frames since the request that this one answers; 0 if unknown
	Size   []int64  `json:"size"`
	Took   []int64  `json:"took"`   // ns since that request; 0 if unknown
	Dir    letters  `json:"dir"`    // a wire.Direction as a digit, and so on
	Kind   letters  `json:"kind"`   // a wire.Kind
	Origin letters  `json:"origin"` // a wire.Origin
	Fail   letters  `json:"fail"`   // a dialect.Failure
	State  []state  `json:"state"`
	Class  letters  `json:"class"`  // of the bytes; ? if they are not on the page
	Method []int32  `json:"method"` // names
	Update []int32  `json:"update"`
	Sess   []int32  `json:"session"`
	Name   []int32  `json:"name"` // name that the row shows
	Tool   []int32  `json:"tool"` // the id of a tool call
	Title  []int32  `json:"title"`
	Turn   []int32  `json:"turn"`
	Stream []uint64 `json:"stream"`
	Sum    []string `json:"sum"`

	// Columns that few rows need:
	Fold  [][2]int   `json:"fold"`  // row, and the number of frames it represents
	Found []found    `json:"found"` // by row
	Batch [][4]int32 `json:"batch"` // row; method, update and session of an entry
	Tools [][3]int32 `json:"tools"` // row; id and title of a tool call named in a batch

	Blocks [classes][]int `json:"blocks"` // frames in each block of a class
}

// A listed is a tape in the list.
type listed struct {
	Name   string `json:"name"`
	Side   string `json:"side,omitempty"`   // of two runs: A or B
	Ref    string `json:"ref,omitempty"`    // name of the run in commands
	Prefix string `json:"prefix,omitempty"` // of frame numbers in those commands
	Server string `json:"server,omitempty"`
	Rows   int    `json:"rows"`
	Start  string `json:"start,omitempty"` // ns since 1970
	Zone   int    `json:"zone,omitempty"`  // seconds east of UTC
}

// A found is a finding on a row.
type found struct {
	Row      int    `json:"row"`
	Rule     string `json:"rule"`
	Name     string `json:"name"`
	Strength string `json:"strength"`
	By       string `json:"by"`
	Text     string `json:"text"`
}

// hues are the styles of names on a terminal. The page has a colour for each.
var hues = []termtext.Style{termtext.Plain, termtext.Conversation, termtext.Tools, termtext.Permission, termtext.Services, termtext.LifeCycle}

// paint gives each name its hue.
func (t *table) paint() {
	for _, name := range t.Names[len(t.Hues):] {
		t.Hues = append(t.Hues, '0'+byte(max(slices.Index(hues, frametext.Role(name)), 0)))
	}
}

// letters is a column with one letter per row.
type letters []byte

// MarshalText returns the letters, which are ASCII.
func (l letters) MarshalText() ([]byte, error) { return l, nil }

// A state has the properties of a row besides its kind.
type state uint16 // []uint8 would not be a list in JSON

const (
	untimed state = 1 << iota
	redelivered
	open
	gap
	silent
	joins // continues the previous row's run of chunks
	fails // wire.Frame.Failed.Frame has it
	silentTool
	silentSetup
	hung
)

// listed returns what the list needs to know about a tape, the ith of its side.
func (r *reader) listed(t *Tape, i int) listed {
	l := listed{Name: termtext.Line(tapetext.ShortID(t.Info.Tape)), Server: t.Info.Start.Parent.Server}
	if start := t.Info.Start.Time; !start.IsZero() {
		l.Start = strconv.FormatInt(start.UnixNano(), 10)
		_, l.Zone = start.Zone()
	}
	if r.side != "" {
		l.Side, l.Ref = r.side, termtext.Line(r.in.Ref)
		if i > 0 || len(r.in.Tapes) > 1 {
			l.Prefix = strconv.Itoa(i+1) + "."
		}
	}
	return l
}

// cut drops all but the first n rows.
func (t *table) cut(n int) {
	t.Out += len(t.Seq) - n
	t.Seq, t.At, t.Asked, t.Size, t.Took = t.Seq[:n], t.At[:n], t.Asked[:n], t.Size[:n], t.Took[:n]
	t.Dir, t.Kind, t.Origin, t.Fail, t.State, t.Class = t.Dir[:n], t.Kind[:n], t.Origin[:n], t.Fail[:n], t.State[:n], t.Class[:n]
	t.Method, t.Update, t.Sess, t.Name, t.Tool, t.Title = t.Method[:n], t.Update[:n], t.Sess[:n], t.Name[:n], t.Tool[:n], t.Title[:n]
	t.Turn, t.Stream, t.Sum = t.Turn[:n], t.Stream[:n], t.Sum[:n]
	before := 0
	for i := range t.Tapes {
		l := &t.Tapes[i]
		l.Rows = min(l.Rows, max(n-before, 0))
		before += l.Rows
	}
	t.Fold = firstRows(t.Fold, n, func(r [2]int) int { return r[0] })
	t.Found = firstRows(t.Found, n, func(r found) int { return r.Row })
	t.Batch = firstRows(t.Batch, n, func(r [4]int32) int { return int(r[0]) })
	t.Tools = firstRows(t.Tools, n, func(r [3]int32) int { return int(r[0]) })
}

// firstRows returns the entries about the first n rows. The list is in row order.
func firstRows[T any](list []T, n int, row func(T) int) []T {
	for len(list) > 0 && row(list[len(list)-1]) >= n {
		list = list[:len(list)-1]
	}
	return list
}

// pack returns the table, compressed, for the page.
func (t *table) pack() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic("report: " + err.Error())
	}
	return new(deflater).pack(b)
}
