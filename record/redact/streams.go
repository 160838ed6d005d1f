package redact

import (
	"crypto/sha256"
	"maps"
	"sort"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// streams joins the texts of a tape that come in pieces, to find secrets that cross the
// seams. It keeps a bounded amount.
type streams struct {
	found func(p *piece, at span) // called with a secret, or a part of one, in the text of a piece
	open  map[streamKey]*stream
	split bool // the client received other pieces than the agent sent
	count int  // of pieces so far
}

// A streamKey identifies the stream that a piece belongs to.
type streamKey struct {
	dir      wire.Direction
	atClient bool // only if split
	session  string
	kind, id string
}

// A stream is the end of a text: the part not yet searched, preceded by enough text for a
// secret to begin in.
type stream struct {
	text   []byte
	pieces []piece
	seen   int // secrets up to there have been reported
	looked int // number of pieces at the last search
	used   int // count at the last piece

	lines bool // each piece is a line
}

// A piece is the text of one frame.
type piece struct {
	seq        uint64
	begin, end int               // in the text of the stream; begin is negative if only the end of the piece is left
	sum        [sha256.Size]byte // of the frame's bytes, if the frame may be redelivered
}

const (
	maxStreams = 64
	maxPieces  = 4 << 10  // between two searches
	maxText    = 64 << 10 // between two searches, and in one secret
	overlap    = 4 << 10  // how far back a secret may begin
	context    = 256      // before and after a secret, to recognize it
)

func (all *streams) add(f *dialect.Frame) {
	if f.Events.Has(dialect.TurnBegan) {
		all.endOf(f.Session)
	}
	t, ok := streamed(f)
	if !ok || len(t.text) == 0 {
		return
	}
	if f.Origin != wire.Wire && !all.split {
		all.split = true
		for k, s := range maps.Clone(all.open) {
			k.atClient = true
			all.open[k] = s.clone()
		}
	}
	p := piece{seq: f.Seq}
	if f.Stream != 0 {
		p.sum = sha256.Sum256(f.Raw)
	}
	key := streamKey{dir: f.Dir, session: f.Session, kind: t.kind, id: t.id}
	if !all.split || f.AtAgent() {
		all.append(key, p, &t)
	}
	if all.split && f.AtClient() {
		key.atClient = true
		all.append(key, p, &t)
	}
}

func (all *streams) append(key streamKey, p piece, t *streamedText) {
	s := all.open[key]
	if s == nil {
		if len(all.open) == maxStreams {
			all.endOldest()
		}
		if all.open == nil {
			all.open = make(map[streamKey]*stream)
		}
		s = &stream{lines: t.at < 0}
		all.open[key] = s
	}
	all.count++
	s.used = all.count
	p.begin = len(s.text)
	s.text = append(s.text, t.text...)
	p.end = len(s.text)
	if s.lines {
		s.text = append(s.text, '\n')
	}
	s.pieces = append(s.pieces, p)
	switch {
	case t.whole:
		all.endOne(key)
	case len(s.text)-s.seen > maxText, len(s.pieces)-s.looked > maxPieces:
		s.search(false, all.found)
	}
}

// endOf ends the messages of a session, because a prompt follows them.
func (all *streams) endOf(session string) {
	for k := range all.open {
		if k.session == session && k.id == "" && k.kind != "" {
			all.endOne(k)
		}
	}
}

func (all *streams) endOldest() {
	var oldest streamKey
	first := all.count + 1
	for k, s := range all.open {
		if s.used < first {
			oldest, first = k, s.used
		}
	}
	all.endOne(oldest)
}

func (all *streams) endOne(key streamKey) {
	all.open[key].search(true, all.found)
	delete(all.open, key)
}

// end searches the rest.
func (all *streams) end() {
	for k := range all.open {
		all.endOne(k)
	}
}

func (s *stream) clone() *stream {
	c := *s
	c.text, c.pieces = append([]byte(nil), s.text...), append([]piece(nil), s.pieces...)
	return &c
}

// search calls found for the secrets that no earlier search found, and drops the text
// that no later search needs. Unless the text has ended, it leaves a secret that may
// continue to the next search.
func (s *stream) search(ended bool, found func(*piece, span)) {
	in := newSearch(s.text)
	in.anyText()
	sure := len(s.text)
	if !ended {
		sure -= context
	}
	keep := len(s.text) - overlap
	for _, at := range in.spans() {
		switch {
		case at.to <= s.seen:
		case at.to > sure && at.from > len(s.text)-maxText:
			keep = min(keep, at.from-context)
		default:
			s.tell(at, found)
		}
	}
	if !ended {
		s.drop(max(keep, 0), sure)
	}
}

// drop drops the text before a place. Secrets up to sure have been reported.
func (s *stream) drop(before, sure int) {
	s.text = append([]byte(nil), s.text[before:]...)
	s.seen = sure - before
	first := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].end > before })
	s.pieces = append([]piece(nil), s.pieces[first:]...)
	for i := range s.pieces {
		s.pieces[i].begin -= before
		s.pieces[i].end -= before
	}
	s.looked = len(s.pieces)
}

// tell calls found once for each piece that has a part of a secret.
func (s *stream) tell(at span, found func(*piece, span)) {
	first := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].end > at.from })
	for i := first; i < len(s.pieces) && s.pieces[i].begin < at.to; i++ {
		p := &s.pieces[i]
		found(p, span{max(at.from, p.begin) - p.begin, min(at.to, p.end) - p.begin})
	}
}
