package main

import (
	"bufio"
	"context"
	"io"

	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// A party is one of the tapes shown together: the agent's or a server's.
type party struct {
	listing
	sub   ref.Subject
	part  ref.Part
	ended bool
}

// A gathering shows a tape of an agent together with those of its servers.
type gathering struct {
	*show
	w       *bufio.Writer
	stderr  io.Writer
	form    frametext.Lines
	sum     *sum
	parties []*party // the agent's first
	latest  *party   // the one that the last line belongs to
}

// together shows the matching frames of the agent and its servers, interleaved.
func (s *show) together(ctx context.Context, w *bufio.Writer, stderr io.Writer, sub ref.Subject, form frametext.Lines) error {
	n := &sum{}
	for i, p := range sub.Parts {
		g := gathering{show: s, w: w, stderr: stderr, form: form, sum: n}
		if err := g.read(ctx, sub, p, s.follow && i == len(sub.Parts)-1); err != nil {
			return err
		}
	}
	return s.verdict(n)
}

// read shows a tape of the agent and those of the servers started on it.
func (g *gathering) read(ctx context.Context, sub ref.Subject, p ref.Part, follow bool) error {
	r, err := sub.Reader(true, p)
	if err != nil {
		return err
	}
	r.Follow = follow
	for e := range r.Read(ctx) {
		for _, part := range r.Parts[len(g.parties):] {
			of, its := sub, p
			if part.IsServer() {
				its = ref.Part{Tape: part.Tape}
				of = ref.Subject{Store: sub.Store, Parts: []ref.Part{its}}
			}
			if err := g.add(ctx, of, its, part); err != nil {
				return err
			}
		}
		if err := g.take(e); err != nil {
			return err
		}
	}
	for _, p := range g.parties {
		if err := p.end(); err != nil {
			return err
		}
	}
	return nil
}

// add adds a tape: part p of sub.
func (g *gathering) add(ctx context.Context, sub ref.Subject, p ref.Part, part *reading.Part) error {
	one := &party{
		listing: listing{show: g.show, match: &query.Matcher{Filter: g.match.Filter}, w: g.w, stderr: g.stderr, lines: g.form, sum: g.sum},
		sub:     sub, part: p,
	}
	one.lines.Server = part.Server
	if err := one.match.Judge(ctx, sub); err != nil {
		return err
	}
	if err := one.begin(sub, p); err != nil {
		return err
	}
	part.From = one.match.From(p, 1)
	if g.parties = append(g.parties, one); part.IsServer() {
		one.start, one.lines.Began = g.parties[0].start, part.Began
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

// take handles the next event of the tapes.
func (g *gathering) take(e *reading.Event) error {
	if e.Part == nil {
		return e.Err
	}
	switch p := g.parties[e.Part.Index]; e.Kind {
	case reading.Read:
		return g.frame(p, e)
	case reading.Ends:
		return p.end()
	}
	return nil
}

// frame shows a frame of a tape, or the error in its place.
func (g *gathering) frame(p *party, e *reading.Event) error {
	if g.latest != p {
		p.lines.Interrupted()
	}
	if e.Err != nil {
		g.latest = p
		return p.trouble(e.Err)
	}
	shown := g.sum.shown
	err := p.take(p.sub, p.part, &e.Frame)
	if g.sum.shown > shown {
		g.latest = p
	}
	return err
}

// end finishes the output of the tape, once.
func (p *party) end() error {
	if p.ended {
		return nil
	}
	p.ended = true
	return p.listing.end()
}
