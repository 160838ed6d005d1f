package inspect

import (
	"bytes"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A row is a frame, or a run of chunks, as it stands in the list.
type row struct {
	frame   dialect.Frame // without its bytes
	summary string        // of a run: of its text
	bad     bool
	chunks  int   // frames in the run; 1 for any other row
	err     error // it cannot be read; then frame has nothing but its number
}

// newRow makes a row of a frame with its bytes.
func newRow(f *dialect.Frame) row {
	r := row{frame: *f, summary: Summary(*f), bad: isBad(f), chunks: 1}
	r.frame.Raw = nil
	return r
}

// A book finds frames by their numbers, and remembers the rows that were on the
// screen.
type book struct {
	reel *reel
	rows map[uint64]row
}

func newBook(r *reel) book { return book{r, map[uint64]row{}} }

// maxRows is how many rows are remembered: several screens of them.
const maxRows = 1 << 12

// far is how many frames may stand between two that are read in one go.
const far = 1 << 11

// A stretch is some neighbours on a tape that make one row.
type stretch struct {
	seq    uint64
	frames int
}

// add remembers rows that were read elsewhere.
func (b *book) add(rows []row) {
	for _, r := range rows {
		if len(b.rows) < maxRows { // else they are read when they are drawn
			b.rows[r.frame.Seq] = r
		}
	}
}

// load reads the rows that are not there yet. The stretches are in order.
func (b *book) load(wanted []stretch) {
	var missing []stretch
	for _, w := range wanted {
		if r, ok := b.rows[w.seq]; !ok || r.chunks != w.frames {
			missing = append(missing, w)
		}
	}
	if len(b.rows)+len(missing) > maxRows {
		clear(b.rows)
		missing = wanted
	}
	for len(missing) > 0 {
		n := 1
		for n < len(missing) && missing[n].seq-missing[n-1].seq < far {
			n++
		}
		b.read(missing[:n])
		missing = missing[n:]
	}
}

// read reads rows that stand near each other.
func (b *book) read(wanted []stretch) {
	var failed error
	for f, err := range b.reel.frames(wanted[0].seq) {
		if err != nil {
			failed = err
			continue
		}
		for len(wanted) > 0 && wanted[0].seq < f.Seq {
			b.rows[wanted[0].seq] = unreadable(wanted[0], failed)
			wanted = wanted[1:]
		}
		if len(wanted) == 0 {
			return
		}
		if f.Seq == wanted[0].seq {
			b.rows[f.Seq] = b.row(&f, wanted[0].frames)
			wanted = wanted[1:]
		}
		if len(wanted) == 0 {
			return
		}
	}
	for _, w := range wanted {
		b.rows[w.seq] = unreadable(w, failed)
	}
}

func unreadable(w stretch, err error) row {
	if err == nil {
		err = errors.New("this frame is not on the tape")
	}
	r := row{err: err, chunks: w.frames, bad: true}
	r.frame.Seq = w.seq
	return r
}

func (b *book) row(f *dialect.Frame, frames int) row {
	r := newRow(f)
	if r.chunks = frames; frames > 1 {
		r.summary = b.text(f.Seq, frames)
	}
	return r
}

// requestOf returns the number of the request that a frame answers, 0 for none.
func requestOf(f *dialect.Frame) uint64 {
	if f.Answers != 0 {
		return f.Answers
	}
	for i := range f.Entries {
		if a := f.Entries[i].Answers; a != 0 {
			return a
		}
	}
	return 0
}

// text joins what a run of chunks says, as far as a summary goes.
func (b *book) text(seq uint64, frames int) string {
	var said bytes.Buffer
	for f, err := range b.reel.frames(seq) {
		if err != nil || f.Seq >= seq+uint64(frames) || said.Len() > 4*maxSummary {
			break
		}
		said.WriteString(chunkText(&f))
	}
	return clean(said.String(), maxSummary)
}

// chunkText returns the text of a chunk as it was sent, blanks at its ends too.
func chunkText(f *dialect.Frame) string {
	u := parse(f, wire.Scan(f.Raw).Params).Get("update")
	if t := u.Get("content.text"); t.Type == gjson.String {
		return t.Str
	}
	return Summary(*f)
}

// frame returns a frame with its bytes.
func (b *book) frame(seq uint64) (dialect.Frame, error) {
	f, err := b.reel.frame(seq)
	f.Raw = bytes.Clone(f.Raw)
	return f, err
}
