package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// A chapter is the story of a session.
type chapter struct {
	Name   string // name of the session, if there are several
	Rail   string // label of the links to the turns
	Meta   string
	Shares []share // of the time of all its turns; none if there is only one, or only one session
	Strip  *strip
	Before []*lane // what came before the first turn
	Links  []entry // to the turns
	Turns  []told

	session *trace.Session
	number  int           // the session's number on the page
	turns   []*trace.Turn // the requested turns
	steps   *steps.Session
	starts  map[int]*startUp // start-ups before turns, by index of the turn
	whole   map[int]*turn    // the turns told in full, by index
}

// A told is a turn on the page, or a note that turns are omitted.
type told struct {
	StartUp *startUp // before the turn; may be nil
	Turn    string   // its markup
	Left    string
}

// An entry links to a turn, or to several omitted ones.
type entry struct {
	Link  string // an id
	Name  string // 7, or 7–90
	State status
	Wrong string // as in turn
	Text  string
	Took  string

	timed  bool
	span   steps.Span
	shares []share
	all    []*lane
}

func (c *chapter) html() h.Node {
	return h.Group{h.El("article", h.Class("chapter"), h.NL,
		h.Given(c.Name, h.H2(h.Text(c.Name)), h.NL),
		h.P(h.Class("meta"), h.Text(c.Meta)), h.NL,
		h.Given(len(c.Shares), h.P(h.Class("meta small"), split(c.Shares))),
		c.Strip.html(), h.NL,
		h.Div(h.Class("columns"),
			h.Given(len(c.Links) > 1, h.El("nav", h.Class("rail"), h.Aria("label", c.Rail), h.El("ol", h.NL, h.Each(c.Links, entry.html))), h.NL),
			h.Div(h.Class("column"), h.NL,
				h.Given(len(c.Before), h.Div(h.Class("lanes bare"), h.Each(c.Before, (*lane).html)), h.NL),
				h.Each(c.Turns, told.html))), h.NL), h.NL}
}

func (t told) html() h.Node {
	return h.Group{t.StartUp.html(), h.Raw(t.Turn), leftOut(t.Left)}
}

func (e entry) html() h.Node {
	return h.Group{h.Li(h.A(h.Link(e.Link), span("dot "+e.State.Class, ""), h.B(h.Text(e.Name)), h.Span(h.Class("cut"), h.Auto(), h.Text(e.Text)),
		h.Given(e.Wrong, h.Span(h.Class("bad"), h.Title(e.Wrong), h.Text("✗"))), span("soft", e.Took))), h.NL}
}

// If the story is too long, it has only the first and last turns of each session: few enough
// to go through with the tab key.
const (
	firstTurns = 100
	lastTurns  = 130
)

// chapters returns the stories of the sessions.
func (r *reader) chapters() []*chapter {
	var list []*chapter
	sessions := r.sessions()
	for i, s := range sessions {
		if len(s.Conversation.Entities)+len(s.Conversation.Turns) == 0 {
			continue
		}
		c := r.chapter(s, i+1)
		if c.Rail = "Turns"; len(sessions) > 1 {
			c.Rail = fmt.Sprintf("Turns of session %d", i+1)
			c.Name = cmp.Or(termtext.Brief(s.Title, 160), "Session "+termtext.Piece(s.ID))
			c.Shares = r.allShares(c.turns)
		}
		list = append(list, c)
	}
	r.alone = r.tally.Stats.Turns().Total() == 1
	r.tellTurns(list)
	for _, c := range list {
		r.assemble(c)
	}
	return list
}

// chapter returns the chapter of a session, before its turns are told.
func (r *reader) chapter(s *trace.Session, number int) *chapter {
	c := &chapter{Meta: termtext.Dotted("session "+termtext.Piece(s.ID), termtext.Labelled("in", termtext.Piece(s.Cwd))), session: s, number: number}
	c.steps, c.starts, c.whole = r.source().Session(s), map[int]*startUp{}, map[int]*turn{}
	for _, t := range s.Conversation.Turns {
		if !r.shows(t) {
			continue
		}
		if start := r.startUp(c, t); start != nil {
			c.starts[len(c.turns)] = start
		}
		c.turns = append(c.turns, t)
	}
	if r.in.First <= 1 {
		r.tellBefore(c)
	}
	return c
}

// turnID returns the id of a turn's element.
func (c *chapter) turnID(t *trace.Turn) string { return fmt.Sprintf("s%d-turn-%d", c.number, t.Number) }

// tellBefore tells what came before the first turn, such as a replayed history. It uses
// at most a quarter of the room for the story.
func (r *reader) tellBefore(c *chapter) {
	before := c.steps.Entities(0)
	n, size := 0, 0
	for n < min(len(before), maxEntities) && size < r.limits.story/4 {
		size += entityCost + 2*textSize(before[n])
		n++
	}
	c.Before = itemLanes(r.items(c.steps, nil, before[:n]))
	r.told += size
	if left := len(before) - n; left > 0 {
		c.Turns = append(c.Turns, told{Left: fmt.Sprintf("%s before the first turn are left out: acptap show --chat %s", termtext.Counted(left, "step"), r.in.Ref)})
	}
}

// allShares returns the shares of the total time of several turns.
func (r *reader) allShares(turns []*trace.Turn) []share {
	var spent trace.Spend
	timed := 0
	for _, t := range turns {
		if !t.Untimed {
			spent = spent.Plus(t.Spend(r.span(t).To))
			timed++
		}
	}
	if timed < 2 { // a single turn has its own
		return nil
	}
	return shares(spent)
}

// A choice is a turn that may be told in full.
type choice struct {
	chapter *chapter
	index   int
}

func (c choice) turn() *trace.Turn { return c.chapter.turns[c.index] }

// worth decreases toward the beginning and the end of a turn's session.
func (c choice) worth() int {
	return min(c.index*lastTurns, (len(c.chapter.turns)-1-c.index)*firstTurns)
}

// choices returns the turns that may be told in full, most important first.
func (r *reader) choices(list []*chapter) []choice {
	size, all := 0, []choice{}
	for _, c := range list {
		for i, t := range c.turns {
			for _, e := range c.steps.Entities(t.Number) {
				size += entityCost + textSize(e)
			}
			all = append(all, choice{c, i})
		}
	}
	if size > r.limits.story {
		all = slices.DeleteFunc(all, func(c choice) bool {
			return c.index >= firstTurns && c.index < len(c.chapter.turns)-lastTurns
		})
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(a.worth(), b.worth()) })
	return all
}

// mostMisses is the number of turns that may fail to fit before no more are tried.
const mostMisses = 20

// tellTurns tells the turns that fit.
func (r *reader) tellTurns(list []*chapter) {
	misses := 0
	for _, c := range r.choices(list) {
		if !r.tellTurn(c) {
			misses++
		}
		if misses == mostMisses {
			break
		}
	}
}

// tellTurn tells a turn, or a shorter form of it, if that fits.
func (r *reader) tellTurn(which choice) (fits bool) {
	c, t := which.chapter, which.turn()
	for _, most := range []int{maxEntities, maxEntities / 8} {
		images := r.images
		images.first = maps.Clone(images.first)
		one := r.turn(c.steps, t, c.turnID(t))
		one.Open = which.index == len(c.turns)-1 || t.Outcome.How.IsBad()
		r.tell(c.steps, one, most)
		one.markup = h.String(one.html())
		size := len(one.markup) - (r.images.size - images.size)
		if size <= r.limits.story-r.told {
			r.told += size
			r.mark(one)
			if one.Asked, one.Lanes = nil, nil; len(c.turns) > mostRows {
				one.all = nil // a strip does not need them
			}
			c.whole[which.index] = one
			return true
		}
		r.images = images
		if len(c.steps.Entities(t.Number)) <= maxEntities/8 {
			break
		}
	}
	return false
}

// assemble puts the turns in order, with notes about omitted ones.
func (r *reader) assemble(c *chapter) {
	group := 1
	if n := len(c.turns); n > r.limits.turns {
		group = (n-len(c.whole))/max(r.limits.turns-len(c.whole), 20) + 1
	}
	for i := 0; i < len(c.turns); {
		if one := c.whole[i]; one != nil {
			c.Turns, c.Links = append(c.Turns, told{StartUp: c.starts[i], Turn: one.markup}), append(c.Links, r.lead(choice{c, i}))
			i++
			continue
		}
		end := i + 1
		for end < len(c.turns) && c.whole[end] == nil && c.starts[end] == nil {
			end++
		}
		c.Turns = append(c.Turns, told{StartUp: c.starts[i], Left: r.leftTurns(c.turns[i:end])})
		for i < end {
			n := 1
			for n < group && i+n < end && c.turns[i+n].Run == c.turns[i].Run {
				n++
			}
			c.Links = append(c.Links, r.leftEntry(c, c.turns[i:i+n]))
			i += n
		}
	}
}

// leftTurns returns the note that turns are omitted.
func (r *reader) leftTurns(turns []*trace.Turn) string {
	first, last := turns[0].Number, turns[len(turns)-1].Number
	if len(turns) == 1 {
		return fmt.Sprintf("Turn %d is left out, as the story is long: acptap report --turns %[1]d %s", first, r.in.Ref)
	}
	return fmt.Sprintf("Turns %d to %d are left out, as the story is long: acptap report --turns %[1]d..%[2]d %s", first, last, r.in.Ref)
}

// lead returns the entry of a turn, whether told in full or not.
func (r *reader) lead(which choice) entry {
	if one := which.chapter.whole[which.index]; one != nil {
		return r.entry(one, one.ID)
	}
	return r.leftEntry(which.chapter, []*trace.Turn{which.turn()})
}

// entry returns the entry of a turn.
func (r *reader) entry(one *turn, link string) entry {
	return entry{
		Link: link, Name: fmt.Sprint(one.Number), State: one.State, Wrong: one.Wrong, Text: one.Prompt, Took: one.Took,
		timed: !one.of.Untimed, span: r.span(one.of), shares: one.Shares, all: one.all,
	}
}

// leftEntry returns the entry of successive omitted turns on one tape. It links to the
// first of them in the list of frames.
func (r *reader) leftEntry(c *chapter, turns []*trace.Turn) entry {
	first, last := turns[0], turns[len(turns)-1]
	link := "frame-" + r.frame(first.Run, first.Prompt).String()
	if len(turns) == 1 {
		return r.entry(r.turn(c.steps, first, ""), link)
	}
	e := entry{Link: link, Name: fmt.Sprintf("%d–%d", first.Number, last.Number), Text: termtext.Counted(len(turns), "turn")}
	var spent trace.Spend
	bad := 0
	for _, t := range turns {
		if t.Outcome.How.IsBad() {
			bad++
		}
		if !t.Untimed {
			e.timed, spent = true, spent.Plus(t.Spend(r.span(t).To))
		}
	}
	if e.State = (status{"done", "good"}); bad > 0 {
		e.State = status{fmt.Sprintf("%d of them failed", bad), "bad"}
		e.Text += ", " + e.State.Word
	}
	e.span = steps.Span{Run: first.Run, From: first.Began, To: r.span(last).To}
	e.shares, e.Took = shares(spent), termtext.Duration(spent.Sum())
	return e
}
