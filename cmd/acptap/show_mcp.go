package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A party is one of the tapes that are shown together: the agent's, or that of a server.
type party struct {
	listing
	of   *gathering
	sub  ref.Subject
	part ref.Part
	info record.Info

	next  func() (dialect.Frame, error, bool)
	stop  func()
	frame dialect.Frame // that comes next; its bytes are valid until next is called
	err   error         // in its place
	at    time.Duration // of it, since the agent's tape began
	last  uint64        // number of the last one that was shown
}

// together shows the frames that match, with those of servers between those of the agent.
func (s *show) together(ctx context.Context, w *bufio.Writer, stderr io.Writer, sub ref.Subject, form frametext.Lines) error {
	n := &sum{}
	for i, p := range sub.Parts {
		g := gathering{show: s, w: w, stderr: stderr, sub: sub, form: form, sum: n}
		err := g.gather(ctx, p)
		if err == nil {
			err = g.recorded()
		}
		if err == nil && s.follow && i == len(sub.Parts)-1 {
			err = g.goOn(ctx)
		}
		if err != nil {
			return err
		}
	}
	return s.verdict(n)
}

// A gathering is the tapes that are shown together with one of an agent.
type gathering struct {
	*show
	w      *bufio.Writer
	stderr io.Writer
	sub    ref.Subject
	form   frametext.Lines
	sum    *sum

	parties []*party               // the agent's first
	latest  *party                 // that the last line is of
	has     func(record.Info) bool // which of the servers' tapes belong to the subject
}

// gather opens the tapes.
func (g *gathering) gather(ctx context.Context, p ref.Part) error {
	info, err := p.Tape.Info()
	if err != nil {
		return err
	}
	if err := g.add(ctx, g.sub, p, info, ""); err != nil || g.sub.Store == nil {
		return err
	}
	l, err := g.sub.Store.List()
	if err != nil {
		return err
	}
	if g.has, err = g.ownServers(p); err != nil {
		return err
	}
	return g.addBelow(ctx, record.NestingOf(l.Tapes), info.Tape, "")
}

// ownServers returns which tapes of servers belong to the subject: of a session those
// that were started for it.
func (g *gathering) ownServers(p ref.Part) (has func(record.Info) bool, err error) {
	if g.sub.Session == "" {
		return func(record.Info) bool { return true }, nil
	}
	var links nested.Links
	for f, err := range p.Tape.Frames(1) {
		if err == nil { // else it is told when the frames are shown
			links.Add(&f)
		}
	}
	return func(i record.Info) bool {
		session, ok := links.Session(i.Start.Parent.Link)
		return ok && session == g.sub.Session
	}, nil
}

// addBelow adds the tapes that are nested in one, and in those, unless they are there.
// name is that of the one.
func (g *gathering) addBelow(ctx context.Context, n record.Nesting, tape, name string) error {
	children := n.Children(tape)
	for i, behind := range record.ServerRefs(children) {
		child := children[i]
		if name == "" && !g.has(child) {
			continue
		}
		below := name + behind
		if !slices.ContainsFunc(g.parties, func(p *party) bool { return p.info.Tape == child.Tape }) {
			if err := g.addServer(ctx, child, below[1:]); err != nil {
				return err
			}
		}
		if err := g.addBelow(ctx, n, child.Tape, below); err != nil {
			return err
		}
	}
	return nil
}

// addServer adds the tape of a server.
func (g *gathering) addServer(ctx context.Context, info record.Info, name string) error {
	t, err := g.sub.Store.Open(info.Tape)
	if errors.Is(err, record.ErrNoTape) { // deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	p := ref.Part{Tape: t}
	return g.add(ctx, ref.Subject{Store: g.sub.Store, Parts: []ref.Part{p}}, p, info, name)
}

// add adds a tape. name is that of the server; empty for the agent's.
func (g *gathering) add(ctx context.Context, sub ref.Subject, p ref.Part, info record.Info, name string) error {
	one := &party{
		listing: listing{show: g.show, match: &query.Matcher{Filter: g.match.Filter}, w: g.w, stderr: g.stderr, lines: g.form, sum: g.sum},
		of:      g, sub: sub, part: p, info: info,
	}
	one.lines.Server = name
	if err := one.match.Judge(ctx, sub); err != nil {
		return err
	}
	if err := one.begin(sub, p); err != nil {
		return err
	}
	if g.parties = append(g.parties, one); len(g.parties) > 1 {
		agent := g.parties[0].info.Start.Time
		if one.start = agent; !agent.IsZero() && !info.Start.Time.IsZero() {
			one.lines.Began = info.Start.Time.Sub(agent)
		}
	}
	digits := 0
	for _, other := range g.parties {
		if width := min(termtext.Width(termtext.Piece(other.lines.Server)), frametext.LongestServer); width > 0 {
			digits = max(digits, width+len(":1234"))
		}
	}
	for _, other := range g.parties {
		other.lines.Digits = digits
	}
	return nil
}

// recorded shows what is on the tapes, by time. A tape is opened where its first frame is
// due, so that no more of them are open than were recorded at the same time.
func (g *gathering) recorded() error {
	waiting := slices.Clone(g.parties)
	slices.SortStableFunc(waiting, func(a, b *party) int { return cmp.Compare(a.lines.Began, b.lines.Began) })
	var open []*party
	defer func() {
		for _, p := range open {
			p.stop()
		}
	}()
	for {
		first := earliest(open)
		if len(waiting) > 0 && (first == nil || waiting[0].lines.Began <= first.at) {
			p := waiting[0]
			waiting = waiting[1:]
			p.next, p.stop = iter.Pull2(p.part.Tape.Frames(p.match.From(p.part, 1)))
			if open = append(open, p); !p.advance() {
				open = slices.DeleteFunc(open, func(other *party) bool { return other == p })
			}
			continue
		}
		if first == nil {
			break
		}
		if err := first.now(); err != nil {
			return err
		}
		if !first.advance() {
			open = slices.DeleteFunc(open, func(p *party) bool { return p == first })
		}
	}
	for _, p := range g.parties {
		if g.follow && p.info.Live {
			continue
		}
		if err := p.end(); err != nil {
			return err
		}
	}
	return nil
}

// earliest returns the tape with the earliest frame, of several that which was opened
// first; nil if there is none.
func earliest(open []*party) (first *party) {
	for _, p := range open {
		if first == nil || p.at < first.at {
			first = p
		}
	}
	return first
}

// advance goes to the next frame. It reports whether there is one.
func (p *party) advance() bool {
	f, err, ok := p.next()
	if !ok {
		p.stop()
		return false
	}
	p.set(f, err)
	return true
}

// set makes a frame the next one. Without a time it comes right behind the one before.
func (p *party) set(f dialect.Frame, err error) {
	if p.frame, p.err = f, err; err == nil && !f.Untimed {
		p.at = f.At + p.lines.Began
	} else {
		p.at = max(p.at, p.lines.Began)
	}
}

// now shows the frame.
func (p *party) now() error {
	if p.of.latest != p {
		p.lines.Interrupted()
	}
	if p.err != nil {
		p.of.latest = p
		return p.trouble(p.err)
	}
	p.last = p.frame.Seq
	shown := p.sum.shown
	err := p.take(p.sub, p.part, &p.frame)
	if p.sum.shown > shown {
		p.of.latest = p
	}
	return err
}
