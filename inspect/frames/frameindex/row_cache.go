package frameindex

import (
	"bytes"
	"errors"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Row is a line of a list: a frame, or a run of chunks.
type Row struct {
	Frame   dialect.Frame // without its bytes
	Summary string        // of the run's text
	Rule    bool          // it is a mark of a rule
	Hold    uint64        // the number of the hold that such a mark is about; 0: none
	text    string        // of a chunk or a run: the source of the summary, as sent
	Chunks  int           // number of frames in the run; 1 for any other row
	Err     error         // why the frame cannot be read; Frame then has only its number
	told    bool          // the summary has what Tools knows
}

// enoughText is the number of bytes of text that suffice for a summary.
const enoughText = 4 * frametext.MaxSummary

// NewRow makes a row from a frame with its bytes. tool is the tool call that it is about, as
// far as known.
func NewRow(f *dialect.Frame, tool filter.Tool) Row {
	r := Row{Frame: *f, Summary: frametext.Summary(*f, tool), Chunks: 1}
	if rule := wire.ReadMark(f.Frame).Rule; rule != nil {
		r.Rule, r.Hold = true, rule.Hold
	}
	if IsChunk(f) {
		r.addText(ChunkText(f))
	}
	r.Frame.Raw = nil
	return r
}

// addText adds text to a row, up to the length of a summary. It copies the text, so that
// the row does not retain a large frame.
func (r *Row) addText(text string) {
	r.text += strings.Clone(text[:min(len(text), enoughText-len(r.text))])
}

// A RowCache reads rows by number and keeps them.
type RowCache struct {
	timeline *Timeline
	rows     map[uint64]Row
	Latest   dialect.Frame // the last recorded frame, with its bytes
	Tools    *Tools        // names the tool calls in summaries; may be nil
}

// NewRowCache returns an empty cache. It reads t in its callers' goroutine.
func NewRowCache(t *Timeline) RowCache { return RowCache{timeline: t, rows: map[uint64]Row{}} }

// maxRows limits the rows kept to several screens of them.
const maxRows = 1 << 12

// farApart is the largest distance between two frames that are read in one pass.
const farApart = 1 << 11

// A RowRange is a range of adjacent frames on a tape that form one row.
type RowRange struct {
	Seq    uint64
	Frames int
}

// Add caches rows that were read elsewhere.
func (b *RowCache) Add(rows []Row) {
	for _, r := range rows {
		if len(b.rows) < maxRows { // any others are read when they are drawn
			b.rows[r.Frame.Seq] = r
		}
	}
}

// Row returns a row from the last Load.
func (b *RowCache) Row(seq uint64) Row { return b.rows[seq] }

// Load reads the missing rows. The ranges must be in order.
func (b *RowCache) Load(wanted []RowRange) {
	var missing []RowRange
	for _, w := range wanted {
		if !b.extends(w) {
			missing = append(missing, w)
		}
	}
	if len(b.rows)+len(missing) > maxRows {
		clear(b.rows)
		missing = wanted
	}
	for len(missing) > 0 {
		n := 1
		for n < len(missing) && missing[n].Seq-missing[n-1].Seq < farApart {
			n++
		}
		b.read(missing[:n])
		missing = missing[n:]
	}
}

// extends reports whether a row is cached, or can be made from rows that are. A run that
// has grown absorbs the chunks that followed: while a tape is being recorded these are
// cached too, so the run, and with it the journal, need not be reread for each.
func (b *RowCache) extends(w RowRange) bool {
	r, ok := b.rows[w.Seq]
	switch {
	case !ok, b.isOutdated(&r):
		return false
	case r.Chunks == w.Frames:
		return true
	case r.Chunks > w.Frames, r.text == "":
		return false
	}
	if len(r.text) < enoughText {
		for ; r.Chunks < w.Frames; r.Chunks++ {
			next, ok := b.rows[w.Seq+uint64(r.Chunks)]
			if !ok || next.Err != nil {
				return false
			}
			r.addText(next.text)
		}
		r.Summary = termtext.Brief(r.text, frametext.MaxSummary)
	}
	r.Chunks = w.Frames
	b.rows[w.Seq] = r
	return true
}

// isOutdated reports whether more is known now about the tool call that a row concerns.
func (b *RowCache) isOutdated(r *Row) bool {
	if r.told || !filter.AboutTool(&r.Frame) {
		return false
	}
	_, known := b.Tools.Of(r.Frame.Seq)
	return known
}

// read reads nearby rows in one pass.
func (b *RowCache) read(wanted []RowRange) {
	var failed error
	var row Row // the last one, which may lack text
	for f, err := range b.timeline.frames(wanted[0].Seq) {
		if err != nil {
			failed = err
			continue
		}
		for len(wanted) > 0 && wanted[0].Seq < f.Seq {
			b.rows[wanted[0].Seq] = unreadable(wanted[0], failed)
			wanted = wanted[1:]
		}
		switch {
		case len(wanted) > 0 && wanted[0].Seq == f.Seq:
			b.keep(&row)
			tool, told := b.Tools.Of(f.Seq)
			row = NewRow(&f, tool)
			row.Chunks, row.told = wanted[0].Frames, told
			wanted = wanted[1:]
		case row.lacks(f.Seq):
			row.addText(ChunkText(&f))
		}
		if len(wanted) == 0 && !row.lacks(f.Seq+1) {
			break
		}
	}
	b.keep(&row)
	for _, w := range wanted {
		b.rows[w.Seq] = unreadable(w, failed)
	}
}

// lacks reports whether a run's summary still needs a frame's text.
func (r *Row) lacks(seq uint64) bool {
	return r.Chunks > 1 && seq < r.Frame.Seq+uint64(r.Chunks) && len(r.text) < enoughText
}

// keep caches a row that was read; a run's summary is made from the text of its chunks.
func (b *RowCache) keep(r *Row) {
	if r.Chunks > 1 {
		r.Summary = termtext.Brief(r.text, frametext.MaxSummary)
	}
	if r.Frame.Seq != 0 {
		b.rows[r.Frame.Seq] = *r
	}
}

func unreadable(w RowRange, err error) Row {
	if err == nil {
		err = errors.New("this frame is not on the tape")
	}
	r := Row{Err: err, Chunks: w.Frames}
	r.Frame.Seq = w.Seq
	return r
}

// RequestOf returns the number of the request that a frame answers, or 0.
func RequestOf(f *dialect.Frame) uint64 {
	for reply := range f.Replies() {
		return reply.Request
	}
	return 0
}

// IsChunk reports whether a frame may be part of a run.
func IsChunk(f *dialect.Frame) bool {
	u, ok := dialect.LookupUpdate(f.Update)
	return ok && u.Form == dialect.Chunk && f.Kind == wire.Notification
}

// ChunkText returns the text of a chunk as sent, including blanks at its ends.
func ChunkText(f *dialect.Frame) string {
	u := frametext.Body(f).Get("update")
	if t := u.Get("content.text"); t.IsString() {
		return t.Text()
	}
	return frametext.Summary(*f, filter.Tool{})
}

// Frame returns a frame with its bytes.
func (b *RowCache) Frame(seq uint64) (dialect.Frame, error) {
	if seq == b.Latest.Seq {
		return b.Latest, nil
	}
	f, err := b.timeline.frame(seq)
	f.Raw = bytes.Clone(f.Raw)
	return f, err
}
