package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
)

// A loader turns the lines of a file into blocks, as a tapeWriter does with a journal.
type loader struct {
	d     *dissector
	begin func() error // called once, after the header and before the first line; may be nil
	flush func() error // handles the current block
	tell  func(string) // reports anything that is not imported as written
	count bool         // ignore the numbers in the file from now on
	told  string       // the tape's id in the file
	name  string       // name of the file, for such reports
	notes note.List
	lines *lineNumbers // nil: not wanted
	wrong string       // last text about notes
	to    *Importer    // nil: into memory
	slice [sliceSize]byte
}

// line handles one line.
func (l *loader) line(p portable.Line) error {
	d := l.d
	d.Now = max(p.At, d.Now)
	d.untimed = p.Untimed
	l.number(p.Seq)
	before := d.Seq
	if err := l.take(p); err != nil {
		return err
	}
	if d.Seq > before { // otherwise the line ended no frame
		for seq := before; seq < d.Seq && l.lines != nil; seq++ {
			l.lines.add(seq, p.Number)
		}
		l.annotate(d.Seq-1, note.List{Notes: p.Notes})
	}
	return nil
}

// annotate adds the tags and notes on a frame, or on the tape if frame is 0.
func (l *loader) annotate(frame uint64, written note.List) {
	for _, err := range l.notes.Take(frame, written) {
		if text := fmt.Sprintf("%s: %v; it is left out", l.name, err); text != l.wrong {
			l.wrong = text
			l.tell(text)
		}
	}
}

// take handles the bytes of a line, or a mark.
func (l *loader) take(p portable.Line) error {
	d := l.d
	if p.Body == nil {
		p.Body = bytes.NewReader(p.Raw)
	}
	switch {
	case p.Framing.Stream != 0:
		return l.takeStream(p)
	case p.Mark != nil:
		d.mark(p.Dir, markKind(*p.Mark), p.Mark.JSON())
		return nil
	}
	d.Origin[p.Dir] = p.Origin
	if err := l.feed(p.Dir, p.Body); err != nil {
		return err
	}
	if p.End == wire.None {
		d.split[p.Dir].Flush(d.emit[p.Dir])
	} else {
		d.split[p.Dir].Feed([]byte(p.End.Bytes()), d.emit[p.Dir])
	}
	return l.flushIfFull()
}

// feed handles the bytes of a line.
func (l *loader) feed(dir wire.Direction, r io.Reader) error {
	for {
		n, err := io.ReadFull(r, l.slice[:])
		if n > 0 {
			l.d.split[dir].Feed(l.slice[:n], l.d.emit[dir])
			if err := l.flushIfFull(); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// number sets the number of the next line. Lines keep the numbers they have in the file,
// so someone who reads part of a tape uses the same numbers as its owner. Where the
// numbers stop rising, as where a second tape begins, and where lines have none, they are
// numbered consecutively.
func (l *loader) number(seq uint64) {
	switch {
	case seq == 0 || l.count:
	case seq < l.d.Seq:
		l.count = true
	default:
		l.d.skip(seq)
	}
}

func (l *loader) flushIfFull() error {
	if !l.d.full() {
		return nil
	}
	return l.flush()
}

// lastYear is the last year whose times fit into 63 bits of nanoseconds.
const lastYear = 2261

// load reads a whole file. name is used in errors. A file without lines is an error.
func (l *loader) load(r io.Reader, name string) error {
	l.name = name
	in := bufio.NewReader(r)
	if _, err := in.Peek(1); err == io.EOF {
		return fmt.Errorf("%s is empty", name)
	}
	var last time.Duration
	timed := false
	err := portable.Read(in, name, l.tell, func(h portable.Head) {
		start, tape := h.Start, h.Tape
		if l.told = tape; tapeid.IsValid(tape) {
			l.d.Info.Tape = tape
		}
		if year := start.Time.Year(); year > lastYear {
			l.tell(fmt.Sprintf("%s: it cannot have begun in the year %d; that is left out", name, year))
			start.Time = time.Time{}
		}
		if parent := start.Parent.Tape; parent != "" && !tapeid.IsValid(parent) {
			l.tell(fmt.Sprintf("%s: %.80q cannot be the id of a tape; the parent is left out", name, parent))
			start.Parent = Parent{}
		} else if parent != "" && l.to != nil {
			l.to.prove(&start.Parent)
		}
		l.d.Info.Start = start
		l.d.tracker = nil
		l.d.init()
		l.annotate(0, h.Notes)
	}, func(p portable.Line) error {
		last, timed = p.At, timed || !p.Untimed
		if l.begin != nil {
			if err := l.begin(); err != nil {
				return err
			}
			l.begin = nil
		}
		return l.line(p)
	})
	if err != nil {
		return err
	}
	l.d.end(never)
	if timed && l.d.Info.Ended.IsZero() {
		l.d.Info.Ended = l.d.wall(last)
	}
	return nil
}

// ReadPortable reads a tape in the portable form, or in another form that Import accepts,
// and keeps it compressed in memory. name is used in errors.
func ReadPortable(r io.Reader, name string) (*Tape, error) {
	m := &memoryBlocks{}
	t := &Tape{from: m, codec: new(codec)}
	l := &loader{d: newDissector(Info{}), tell: func(string) {}, lines: &m.lines}
	sessions := map[string]SessionInfo{}
	l.flush = func() error {
		d := l.d
		mergeSessions(sessions, d.sessionChanges)
		m.list = append(m.list, t.codec.encode(d.head(), &d.build, nil))
		d.next()
		return nil
	}
	if err := l.load(r, name); err != nil {
		return nil, err
	}
	if err := l.flush(); err != nil {
		return nil, err
	}
	m.info = l.d.info()
	m.info.Imported, m.info.Complete, m.info.Sessions = true, true, existing(sessions)
	m.sessions = slices.SortedFunc(maps.Values(sessions), byFirst)
	m.notes = l.notes
	t.id = m.info.Tape
	return t, nil
}

// Export writes the whole tape to w in the portable form, which ReadPortable and Import
// read. It redacts secrets unless raw is set.
func (t *Tape) Export(w io.Writer, raw bool) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	notes, err := t.Notes()
	if err != nil {
		return err
	}
	var secrets *redact.Redaction
	if !raw {
		secrets = t.Redaction()
	}
	e, err := portable.NewExporter(w, portable.Head{Tape: info.Tape, Start: info.Start, Needs: info.Needs(), Notes: notes}, secrets)
	if err != nil {
		return err
	}
	for f, err := range t.Frames(1) {
		if err != nil {
			return err
		}
		if !secrets.Knows(&f) {
			break
		}
		if err := e.Write(t, f); err != nil {
			return err
		}
	}
	return e.Close()
}

// Redaction reads all frames now on the tape, and returns a redaction that finds their
// secrets. It ignores what cannot be read.
func (t *Tape) Redaction() *redact.Redaction {
	var key redact.Key
	if info, err := t.Info(); err == nil && info.Streams > 0 && t.store != nil {
		key, _ = t.store.Key() // needed only for streams; without a key, what it would protect is left out
	}
	r := redact.NewRedaction(key)
	for f, err := range t.Frames(1) {
		if err == nil {
			r.Read(&f)
		}
	}
	return r
}

// Redacted yields the frames that are on the tape now, complete but without their
// secrets. Frames of more than redact.MaxSize bytes are not searched; it replaces each
// with a text saying so. Errors are as with Frames.
func (t *Tape) Redacted() iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		secrets := t.Redaction()
		for f, err := range t.Frames(1) {
			if err == nil {
				if !secrets.Knows(&f) {
					return
				}
				f, err = secrets.Frame(t, f)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// Import imports one tape, as Importer.Import does.
func (s *Store) Import(r io.Reader, name string, tell func(text string)) (tape string, err error) {
	return NewImporter(s).Import(r, name, tell)
}

// An Importer imports tapes that belong together: one may be nested in another, even if
// that got another id than in its file. Import and ImportTape are safe for concurrent use.
type Importer struct {
	store *Store

	mu       sync.Mutex
	ids      map[string]string   // of imported tapes, by the ids in their files; guarded by mu
	children map[string][]string // imported tapes that only claim a parent, by that parent; guarded by mu
	bundled  map[string]bool     // tapes of this Importer among them; guarded by mu
}

// NewImporter returns an Importer into a store.
func NewImporter(s *Store) *Importer {
	return &Importer{store: s, ids: map[string]string{}, bundled: map[string]bool{}}
}

// Import reads a tape from r into the store and returns its id. It keeps the id under
// which the tape was recorded, unless the store already has it or no acptap can have made
// it yet. Import accepts every form that package portable reads. name is used in errors.
// tell, which may be nil, reports anything that is not imported as written. After an error,
// nothing of the tape is in the store.
func (i *Importer) Import(r io.Reader, name string, tell func(text string)) (tape string, err error) {
	return i.load(r, name, "", tell)
}

// ImportTape is Import for a tape that must keep its id. It fails if r is another tape,
// and with ErrTapeExists if the store already has a tape with that id.
func (i *Importer) ImportTape(r io.Reader, name, tape string, tell func(text string)) error {
	_, err := i.load(r, name, tape, tell)
	return err
}

// load imports a tape. Unless wanted is empty, the tape must get that id.
func (i *Importer) load(r io.Reader, name, wanted string, tell func(text string)) (tape string, err error) {
	s := i.store
	if err := s.make(); err != nil {
		return "", err
	}
	w := &tapeWriter{store: s, saved: new(atomic.Int64), codec: new(codec), d: newDissector(Info{})}
	var lock *os.File
	defer func() {
		w.close()
		if lock != nil {
			os.Remove(w.file.Path) // unless it has become the tape
			disk.RemoveLocked(lock)
		}
	}()
	if tell == nil {
		tell = func(string) {}
	}
	l := &loader{d: w.d, tell: tell, to: i, flush: func() error { return w.writeBlock(false) }}
	l.begin = func() error {
		began := w.d.Info.Start.Time
		if lock, err = s.reserveTape(w); err != nil {
			return err
		}
		switch {
		case wanted != "" && w.tape != wanted:
			return s.refuse(name, wanted, l.told)
		case l.told == "" || l.told == w.tape:
		case !tapeid.HasOwnForm(l.told, time.Now()):
			tell(fmt.Sprintf("%s: %.80q cannot be the id of a tape: that is when it began and some letters, such as 20260102T150405000-7k2m9p. The tape is %s here", name, l.told, w.tape))
		case !tapeid.Fits(l.told, began):
			tell(fmt.Sprintf("%s: %s cannot be the id of a tape that began at %s. The tape is %s here", name, l.told, began.UTC().Format(time.RFC3339), w.tape))
		}
		return nil
	}
	if err := l.load(r, name); err != nil {
		return "", err
	}
	if w.d.Seq == 1 {
		return "", fmt.Errorf("%s: no frames in it", name)
	}
	if err := w.writeBlock(true); err != nil {
		return "", err
	}
	if err := s.putNotes(w.tape, l.notes); err != nil {
		return "", err
	}
	if err := disk.Rename(w.file.Path, s.tapeFile(w.tape).Path); err != nil {
		return "", errors.Join(err, s.notes().Forget([]string{w.tape}))
	}
	s.index(w.tape)
	i.imported(l.told, w.tape, w.d.Info.Start.Parent)
	return w.tape, nil
}

// refuse returns why a tape cannot be imported under the id wanted. told is its id in the
// file.
func (s *Store) refuse(name, wanted, told string) error {
	switch {
	case told != wanted:
		return fmt.Errorf("%s: it is of the tape %.80q, and not of %s", name, told, wanted)
	case s.hasTape(wanted):
		return fmt.Errorf("%s: tape %s: %w", name, wanted, ErrTapeExists)
	}
	return fmt.Errorf("%s: a tape that began when it says cannot have the id %s", name, wanted)
}

// reserveTape assigns an imported tape its id in the store, and a temporary file. A tape
// without a date began at the time in its id, or now. The lock reserves the id.
func (s *Store) reserveTape(w *tapeWriter) (lock *os.File, err error) {
	info := &w.d.Info
	now, wish, begun := time.Now().Round(0), info.Tape, &info.Start.Time
	if !tapeid.HasOwnForm(wish, now) {
		wish = ""
	}
	if begun.IsZero() {
		*begun = now
		if wish != "" {
			*begun = tapeid.Time(wish)
		}
	}
	if !tapeid.Fits(wish, *begun) {
		wish = "" // ids sort by time
	}
	at := *begun
	if now.Before(at) {
		at = now
	}
	info.Tape, lock, err = s.reserveID(wish, at)
	if err != nil {
		return nil, err
	}
	file, err := s.tapeFile(info.Tape).Temporary()
	if err != nil {
		disk.RemoveLocked(lock)
		return nil, err
	}
	info.Imported = true
	w.tape, w.file = info.Tape, tapeFile{boltfile.File{Path: file}, info.Tape}
	return lock, nil
}
