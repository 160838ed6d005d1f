package inspect

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A row is a frame, or a run of chunks, as it stands in the list.
type row struct {
	frame   dialect.Frame // without its bytes
	summary string        // of a run: of its text
	said    string        // of a chunk or a run: what the summary is made of, as it was sent
	bad     bool
	chunks  int   // frames in the run; 1 for any other row
	err     error // it cannot be read; then frame has nothing but its number
}

// enough is how many bytes of what is said make a summary.
const enough = 4 * frametext.MaxSummary

// newRow makes a row of a frame with its bytes.
func newRow(f *dialect.Frame) row {
	r := row{frame: *f, summary: frametext.Summary(*f), bad: frametext.IsProblem(f), chunks: 1}
	if isChunk(f) {
		r.say(chunkText(f))
	}
	r.frame.Raw = nil
	return r
}

// say adds to what a row says, as far as a summary goes. It keeps no text of a
// frame, which may be long.
func (r *row) say(text string) {
	r.said += strings.Clone(text[:min(len(text), enough-len(r.said))])
}

// A book finds frames by their numbers, and remembers the rows that were on the
// screen.
type book struct {
	reel   *reel
	rows   map[uint64]row
	latest dialect.Frame // of those that were recorded meanwhile, with its bytes
}

func newBook(r *reel) book { return book{reel: r, rows: map[uint64]row{}} }

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
		if !b.has(w) {
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

// has reports whether a row is there. A run that has grown since takes in the
// chunks that followed, which are remembered too while a tape is recorded, so it
// is not read again with each of them, and all of the journal with it.
func (b *book) has(w stretch) bool {
	r, ok := b.rows[w.seq]
	switch {
	case !ok:
		return false
	case r.chunks == w.frames:
		return true
	case r.chunks > w.frames, r.said == "":
		return false
	}
	if len(r.said) < enough {
		for ; r.chunks < w.frames; r.chunks++ {
			next, ok := b.rows[w.seq+uint64(r.chunks)]
			if !ok || next.err != nil {
				return false
			}
			r.say(next.said)
		}
		r.summary = termtext.Brief(r.said, frametext.MaxSummary)
	}
	r.chunks = w.frames
	b.rows[w.seq] = r
	return true
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
		b.tell(&r)
	}
	return r
}

// requestOf returns the number of the request that a frame answers, 0 for none.
func requestOf(f *dialect.Frame) uint64 {
	for reply := range f.Replies() {
		return reply.Request
	}
	return 0
}

// tell joins what the chunks of a run say.
func (b *book) tell(r *row) {
	first := r.frame.Seq
	for f, err := range b.reel.frames(first + 1) {
		if err != nil || f.Seq >= first+uint64(r.chunks) || len(r.said) >= enough {
			break
		}
		r.say(chunkText(&f))
	}
	r.summary = termtext.Brief(r.said, frametext.MaxSummary)
}

// isChunk reports whether a frame may be one of a run.
func isChunk(f *dialect.Frame) bool {
	u, ok := dialect.LookupUpdate(f.Update)
	return ok && u.Form == dialect.Chunk && f.Kind == wire.Notification
}

// chunkText returns the text of a chunk as it was sent, blanks at its ends too.
func chunkText(f *dialect.Frame) string {
	u := frametext.Body(f).Get("update")
	if t := u.Get("content.text"); t.Type == gjson.String {
		return t.Str
	}
	return frametext.Summary(*f)
}

// frame returns a frame with its bytes.
func (b *book) frame(seq uint64) (dialect.Frame, error) {
	if seq == b.latest.Seq {
		return b.latest, nil
	}
	f, err := b.reel.frame(seq)
	f.Raw = bytes.Clone(f.Raw)
	return f, err
}
