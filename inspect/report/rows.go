package report

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// rows is the list of frames: the script's data for drawing and filtering them.
type rows struct {
	none   bool
	filter filter.Filter // selects the frames to list
	max    int           // rows; further frames are only counted
	lines  uint64        // number of frames on all tapes
	fold   bool          // a run of chunks is one row
	table  table
	names  map[string]int32 // indexes in table.Names
	bytes  frameBytes

	// For the current tape:
	tape     *Tape
	track    filter.Tracker
	open     filter.OpenRequests
	run      frameindex.ChunkRun
	requests []request
	seq      uint64 // of the previous row
	at       time.Duration
	gap      filter.Filter // is:gap
}

// A request is the row of a request that may stay unanswered.
type request struct {
	row   int
	frame dialect.Frame // without its bytes
}

const (
	maxRows    = 200_000
	maxSummary = 160 // bytes
)

// newRows returns the rows of a page before its first tape.
func newRows(in *Input) *rows {
	r := &rows{none: in.NoFrames, filter: in.Filter, max: maxRows, names: map[string]int32{"": 0}}
	r.table.Format, r.table.Ref, r.table.Names = 1, termtext.Line(in.Ref), []string{""}
	r.table.Runs = len(in.Tapes)
	r.bytes.limit = in.limits().bytes
	r.gap, _ = filter.Is("is", "gap")
	r.expect(in)
	return r
}

// expect counts the frames on an input's tapes.
func (r *rows) expect(in *Input) {
	for _, tapes := range [][]Tape{in.Tapes, in.Servers} {
		for _, t := range tapes {
			r.lines += t.Info.Lines
		}
	}
	r.fold = r.lines > maxRows
}

// begin begins a tape. All its frames must be added, including those that Has hides.
func (r *rows) begin(t *Tape, as listed) {
	if r.none {
		return
	}
	r.end()
	r.tape, r.seq, r.at = t, 0, 0
	r.open, r.run = filter.OpenRequests{}, frameindex.ChunkRun{}
	r.track.Next(t.Info.Start.Time)
	r.track.Server = t.Info.Start.Parent.Server
	r.track.Findings = t.findingsOn
	if r.filter.NeedsFuture() {
		r.track.LookAhead(t.Frames, !t.Info.Live)
	}
	r.table.Tapes = append(r.table.Tapes, as)
}

// end ends the tape: open requests stay unanswered, unless the tape is being recorded.
func (r *rows) end() {
	if r.tape == nil {
		return
	}
	if !r.tape.Info.Live {
		r.open.EndBefore(max(r.tape.Info.Lines, r.seq) + 1)
	}
	for _, q := range r.requests {
		if !r.open.Has(q.frame.Seq) {
			continue
		}
		r.table.State[q.row] |= open
		if r.open.IsUnanswered(&q.frame) {
			r.table.Fail[q.row] = '0' + byte(dialect.Unanswered)
		}
	}
	r.requests, r.tape = nil, nil
}

// add adds the next frame of the tape.
func (r *rows) add(f *dialect.Frame) {
	if r.none {
		return
	}
	s := r.track.Observe(f)
	r.open.Observe(f)
	if r.tape.Has != nil && !r.tape.Has(f) || !r.filter.Match(&s) {
		r.run.Begins(0, f, false, false)
		return
	}
	failure := s.Failure()
	begins := r.run.Begins(0, f, true, failure != dialect.NoFailure)
	switch {
	case !begins && r.fold && len(r.table.Seq) > 0:
		r.foldIn(f)
	case len(r.table.Seq) == r.max:
		r.table.Out++
	default:
		r.row(&s, failure, begins)
	}
}

// foldIn adds a chunk to the preceding row.
func (r *rows) foldIn(f *dialect.Frame) {
	t := &r.table
	row := len(t.Seq) - 1
	if n := len(t.Fold); n == 0 || t.Fold[n-1][0] != row {
		t.Fold = append(t.Fold, [2]int{row, 1})
	}
	t.Fold[len(t.Fold)-1][1]++
	if sum := t.Sum[row]; len(sum) < maxSummary {
		t.Sum[row] = brief(sum + rowSummary(&filter.Subject{Frame: f}))
	}
	r.found(row, f.Seq)
}

// row adds a row.
func (r *rows) row(s *filter.Subject, failure dialect.Failure, begins bool) {
	t, f := &r.table, s.Frame
	row := len(t.Seq)
	t.Tapes[len(t.Tapes)-1].Rows++
	t.Seq, t.At = append(t.Seq, f.Seq-r.seq), append(t.At, int64(f.At-r.at))
	r.seq, r.at = f.Seq, f.At
	t.Size, t.Took = append(t.Size, f.Size), append(t.Took, int64(s.Latency))
	asked := uint64(0)
	if request := frameindex.RequestOf(f); request != 0 && request < f.Seq {
		asked = f.Seq - request
	}
	t.Asked = append(t.Asked, asked)
	t.Dir, t.Kind = append(t.Dir, '0'+byte(f.Dir)), append(t.Kind, '0'+byte(f.Kind))
	t.Origin, t.Fail = append(t.Origin, '0'+byte(f.Origin)), append(t.Fail, '0'+byte(failure))
	t.State = append(t.State, r.state(s, begins))
	t.Class = append(t.Class, r.bytes.add(f, classOf(f, failure)))
	t.Method, t.Update = append(t.Method, r.name(f.Method)), append(t.Update, r.name(f.Update))
	t.Sess, t.Name = append(t.Sess, r.name(f.Session)), append(t.Name, r.name(termtext.Piece(frametext.Name(f))))
	t.Tool, t.Title = append(t.Tool, r.name(s.Tool.ID)), append(t.Title, r.name(s.Tool.Title))
	t.Turn, t.Stream = append(t.Turn, int32(s.Turn)), append(t.Stream, f.Stream)
	t.Sum = append(t.Sum, rowSummary(s))
	for i := range f.Entries {
		e := &f.Entries[i]
		t.Batch = append(t.Batch, [4]int32{int32(row), r.name(e.Method), r.name(e.Update), r.name(e.Session)})
	}
	for _, tool := range filter.ToolsOf(f) {
		t.Tools = append(t.Tools, [3]int32{int32(row), r.name(tool.ID), r.name(tool.Title)})
	}
	r.found(row, f.Seq)
	if f.Asks() {
		r.remember(row, f)
	}
}

// remember records a request, and drops those that have been answered.
func (r *rows) remember(row int, f *dialect.Frame) {
	if len(r.requests) == cap(r.requests) {
		r.requests = slices.DeleteFunc(r.requests, func(q request) bool { return !r.open.Has(q.frame.Seq) })
	}
	q := request{row, *f}
	q.frame.Raw, q.frame.Lead = nil, nil
	r.requests = append(r.requests, q)
}

func (r *rows) state(s *filter.Subject, begins bool) (all state) {
	for _, is := range [...]struct {
		so bool
		is state
	}{
		{s.Untimed, untimed}, {s.Redelivered, redelivered}, {r.gap.Match(s), gap},
		{s.Slow() == dialect.Silent, silent}, {s.Slow() == dialect.SilentTool, silentTool}, {s.Slow() == dialect.SilentSetup, silentSetup},
		{s.Slow() == dialect.Hung, hung}, {!begins, joins},
		{s.Failed, fails},
	} {
		if is.so {
			all |= is.is
		}
	}
	return all
}

// found adds the findings on a frame.
func (r *rows) found(row int, seq uint64) {
	for _, f := range r.tape.Findings[seq] {
		r.table.Found = append(r.table.Found, found{
			Row: row, Rule: f.Rule.ID, Name: f.Rule.Name, Strength: f.Strength.String(), By: f.Fault.String(),
			Text: termtext.Brief(f.Text, 500),
		})
	}
}

// name returns the index of a name in the table.
func (r *rows) name(s string) int32 {
	n, ok := r.names[s]
	if !ok {
		n = int32(len(r.table.Names))
		s = strings.Clone(s) // it may share memory with a copy of the frame
		r.names[s], r.table.Names = n, append(r.table.Names, s)
	}
	return n
}

// rowSummary returns the summary of a row. For a chunk it is the text including leading
// and trailing blanks, so that the texts of a run can be joined.
func rowSummary(s *filter.Subject) string {
	f := s.Frame
	if frameindex.IsChunk(f) {
		text := frameindex.ChunkText(f)
		return brief(termtext.Line(text[:min(len(text), 4*maxSummary)]))
	}
	return brief(frametext.Summary(*f, s.Tool))
}

// brief shortens a clean line.
func brief(line string) string {
	if len(line) <= maxSummary {
		return strings.Clone(line) // it may share memory with a copy of the frame
	}
	n := maxSummary - len("…")
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n] + "…"
}

// blocks returns the rows and the bytes of frames for the page. room limits both together
// in bytes, most the latter.
func (r *rows) blocks(room, most int) []block {
	if r.none {
		return nil
	}
	r.end()
	r.table.paint()
	packed := r.table.pack()
	for n := len(r.table.Seq); len(packed) > room && n > 0; packed = r.table.pack() {
		n = n / 10 * 9
		r.table.cut(n)
	}
	list, frames := r.bytes.blocks(min(room-len(packed), most))
	r.table.Blocks = frames
	return append([]block{{ID: "rows", Data: r.table.pack()}}, list...)
}

// leftOut returns what did not fit, and how to see it.
func (r *rows) leftOut() (list []string) {
	t := &r.table
	if r.none {
		return []string{"The list of frames was left out: acptap show " + t.Ref}
	}
	if t.Out > 0 {
		list = append(list, termtext.Counted(t.Out, "frame")+" too many are not listed: acptap show "+t.Ref)
	}
	bytes := len(t.Seq)
	for _, blocks := range t.Blocks {
		for _, n := range blocks {
			bytes -= n
		}
	}
	if bytes > 0 {
		list = append(list, "The bytes of "+termtext.Counted(bytes, "listed frame")+" were left out: acptap show --frame NUMBER "+t.Ref)
	}
	return list
}

// findingsOn returns the findings on a frame.
func (t *Tape) findingsOn(seq uint64) (list []*conform.Finding) {
	for _, f := range t.Findings[seq] {
		list = append(list, &f.Finding)
	}
	return list
}
