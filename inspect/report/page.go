package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/termtext"
)

// The fixed parts of the page.
var (
	//go:embed frames.html
	framesMarkup string
	//go:embed page.css
	pageStyle string
	//go:embed frames.css
	framesStyle string
	//go:embed numbers.css
	numbersStyle string
	//go:embed story.js
	storyScript string
	//go:embed page.js
	pageScript string
)

// A page holds what the page shows.
type page struct {
	Policy string // the content security policy
	Style  string
	Script string

	Reload  int64 // ms until the script reloads the page; 0 for never
	Began   int64 // Unix time in ms when the tape being recorded began; 0 if none is
	Parts   []part
	Head    head
	Figures []figure
	Damage  []string
	Broken  []*finding // violations of rules
	Beside  []*strip   // sessions that overlap in time
	Story   []*chapter
	Calls   *calling // for tapes without turns
	Diff    *diff    // for two runs, in place of a story
	Found   []*finding
	Caps    []*introduction
	Numbers *numbers
	Foot    foot
	Blocks  []block // the list of frames
}

// A part is a section of the page with an entry in the navigation bar.
type part struct{ ID, Name string }

// A block is data for the script, in base64url, which needs no escaping.
type block struct {
	ID   string
	Data string
}

// script returns the page's scripts without comment lines and indentation, because each
// page contains it. No line of it begins inside a string.
func script() string {
	var b strings.Builder
	for line := range strings.Lines(storyScript + pageScript) {
		if line = strings.TrimLeft(line, "\t"); !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// policy returns the page's content security policy: it allows only this style and this
// script, loads nothing, and keeps the script from making elements from text.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script()) + "; style-src " + hash(pageStyle+framesStyle+numbersStyle) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// page writes the page for one run.
func (r *reader) page(w io.Writer) error {
	p := r.newPage()
	if last := r.in.Tapes[len(r.in.Tapes)-1].Info; last.Live && !last.Start.Time.IsZero() {
		p.Began = last.Start.Time.UnixMilli()
	}
	p.Foot.Tapes = r.tapes()
	p.Story = r.chapters()
	p.Head, p.Figures, p.Damage = r.head(), r.untold(), r.damage()
	p.Beside = r.overview(p.Story)
	p.Broken, p.Found = r.findings()
	p.Caps, p.Numbers = r.introductions(), r.numbers(p.Story)
	if len(p.Story) == 0 {
		p.Calls = r.calling()
	}
	r.forget(p.Story)
	p.list(r)
	return p.write(w)
}

// forget drops what the parts of the page were made from, but for the list of frames, which
// needs the memory when it is packed (BenchmarkReadMemory in cmd/acptap).
func (r *reader) forget(story []*chapter) {
	for _, c := range story {
		c.session, c.turns, c.steps, c.starts, c.whole = nil, nil, nil, nil, nil
		for i := range c.Links {
			c.Links[i].all = nil
		}
	}
	*r = reader{in: r.in, limits: r.limits, told: r.told, rows: r.rows, images: r.images, said: said{size: r.said.size}, broken: r.broken}
}

// newPage returns a page with everything that does not depend on the tapes.
func (r *reader) newPage() *page {
	return &page{
		Policy: policy(), Style: pageStyle + framesStyle + numbersStyle, Script: script(),
		Reload: r.in.Reload.Milliseconds(), Foot: foot{Version: r.in.Version, Raw: r.in.Raw},
	}
}

// list adds the list of frames, within the remaining room.
func (p *page) list(r *reader) {
	p.Blocks = r.rows.blocks(r.limits.rows(r.told+r.said.size, r.images.size), r.limits.bytes)
	p.Foot.Left = append(p.Foot.Left, r.rows.leftOut()...)
}

// write writes the page.
func (p *page) write(w io.Writer) error {
	p.name()
	return h.Write(w, p.html())
}

// html returns the page. Text from the wire goes only into text and into quoted attribute
// values that neither name nor draw anything.
func (p *page) html() h.Node {
	return h.Group{h.Raw("<!DOCTYPE html>\n"), h.El("html", h.Attr("lang", "en"),
		h.Given(p.Reload, h.Data("live", fmt.Sprint(p.Reload))), h.Given(p.Began, h.Data("began", fmt.Sprint(p.Began))), h.NL,
		h.El("head", h.NL,
			h.Void("meta", h.Attr("charset", "utf-8")), h.NL,
			h.Void("meta", h.Attr("http-equiv", "Content-Security-Policy"), h.Attr("content", p.Policy)), h.NL,
			h.Raw(`<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="acptap">
`),
			h.El("title", h.Text(p.Head.Title)), h.NL,
			h.El("style", h.Raw(p.Style)), h.NL), h.NL,
		h.El("body", h.NL,
			h.El("header", h.Class("bar"), h.El("strong", h.Text("acptap")), h.NL,
				h.El("nav", h.Aria("label", "Parts of the page"), h.Each(p.Parts, func(one part) h.Node { return h.A(h.Link(one.ID), h.Text(one.Name)) })), h.NL,
				h.Each(p.Head.Badges, badge.html), h.NL,
				h.Raw(`<button id="theme" type="button" hidden>theme</button>`)), h.NL,
			h.El("main", h.NL, p.top(), p.sections(), p.Foot.html(), h.NL), h.NL,
			h.Raw(hatch), h.NL,
			h.Each(p.Blocks, func(one block) h.Node {
				return h.Group{h.El("script", h.Attr("type", "application/octet-stream"), h.ID(one.ID), h.Raw(one.Data)), h.NL}
			}),
			h.El("script", h.Raw(p.Script)), h.NL), h.NL), h.NL}
}

// hatch is the pattern of bars that are still growing.
const hatch = `<svg class="defs" width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/><line class="hatch-line" x1="3" x2="3" y2="6"/></pattern></defs></svg>`

// top returns what comes before the sections: the title, how it came out, and the figures.
func (p *page) top() h.Node {
	figures := figureList(p.Figures)
	var gist, diff h.Node
	switch of := p.Head.Gist; {
	case p.Diff != nil:
		figures, diff = nil, p.Diff.head()
	case of != nil:
		figures, gist = nil, of.html(figures)
	}
	return h.Group{h.Div(h.Class("head"),
		h.Given(p.Head.Prompt, h.P(h.Class("topic"), h.Text("asked"))),
		h.El("h1", h.Given(p.Head.Long, h.Class("long")), h.Auto(), h.Text(p.Head.Title)), h.NL,
		h.Given(len(p.Head.Facts), h.P(h.Each(p.Head.Facts, fact))), h.NL,
		gist, h.Given(p.Head.Shown, h.P(h.Text(p.Head.Shown))), h.NL,
		h.Given(len(p.Damage), h.Div(h.Class("banner"), h.Attr("role", "note"), h.Raw("<strong>Parts of this are missing.</strong> What can be read is shown."), h.Ul(h.Each(p.Damage, func(text string) h.Node { return h.Li(h.Text(text)) })))), h.NL,
		diff, figures, h.NL), h.NL}
}

// sections returns the sections that the page has.
func (p *page) sections() h.Node {
	found := "Findings"
	if p.Broken != nil {
		found = "Other findings"
	}
	return h.Group{
		p.Diff.html(),
		h.Given(len(p.Story), h.Section(h.ID("story"), h.Aria("labelledby", "story-title"), h.Raw(`<h2 id="story-title" class="skip">Story</h2>`), h.NL, h.Raw(foldAll), h.NL,
			h.Given(len(p.Beside), h.Div(h.Class("beside"), h.Raw(`<p class="meta">Sessions that ran beside each other, on one axis, idle time cut out</p>`), h.NL, h.Each(p.Beside, (*strip).html)), h.NL),
			h.Each(p.Story, (*chapter).html)), h.NL),
		p.Calls.html(),
		h.Given(len(p.Broken), h.Section(h.ID("findings"), h.H2(h.Text("Against the rules")), h.NL, findingList(p.Broken)), h.NL),
		h.Given(len(p.Found), h.Section(h.Given(p.Broken == nil, h.ID("findings")), h.H2(h.Text(found)), h.NL, findingList(p.Found)), h.NL),
		h.Given(len(p.Blocks), frameList(p.Diff != nil)),
		h.Given(len(p.Caps), h.Section(h.ID("caps"), h.H2(h.Text("Capabilities")), h.NL, h.Each(p.Caps, (*introduction).html)), h.NL),
		p.Numbers.html(),
	}
}

// foldAll are the buttons above a story.
const foldAll = `<div class="fold-all script"><button type="button" data-fold="open">expand all</button> <button type="button" data-fold="close">collapse all</button> <button type="button" data-fold="bad" aria-pressed="false">only failed</button></div>`

// leftOut says that something is left out in this place.
func leftOut(text string) h.Node { return h.Given(text, h.P(h.Class("left"), h.Text(text)), h.NL) }

// frameList returns the list of frames, of one run or of two.
func frameList(two bool) h.Node {
	sides := ""
	if two {
		sides = `<span id="side" role="radiogroup" aria-label="Run"><label><input type="radio" name="side" value="A" checked> A</label> <label><input type="radio" name="side" value="B"> B</label></span>`
	}
	return h.Raw(strings.Replace(framesMarkup, "SIDES", sides, 1))
}

// name lists the parts that the page has.
func (p *page) name() {
	d := p.Diff
	if d == nil {
		d = &diff{}
	}
	for _, one := range []struct {
		there bool
		part
	}{
		{len(d.Strips) > 0, part{"turns", "Turns"}},
		{p.Diff != nil, part{"outline", "Outlines"}},
		{len(d.Found)+len(d.InBoth) > 0, part{"findings", "Findings"}},
		{len(d.Latency.Groups) > 0, part{"latency", "Latency"}},
		{len(p.Story) > 0 || p.Calls != nil, part{"story", "Story"}},
		{len(p.Broken)+len(p.Found) > 0, part{"findings", "Findings"}},
		{len(p.Blocks) > 0, part{"frames", "Frames"}},
		{len(p.Caps) > 0, part{"caps", "Capabilities"}},
		{p.Numbers != nil, part{"numbers", "Numbers"}},
	} {
		if one.there {
			p.Parts = append(p.Parts, one.part)
		}
	}
}

// damage returns what is missing on the tapes.
func (r *reader) damage() []string {
	var list []string
	for _, err := range r.broken {
		list = append(list, termtext.Line(err.Error()))
	}
	if n := r.lost(); n > 0 {
		list = append(list, fmt.Sprintf("%s that passed could not be recorded.", termtext.ByteSize(n)))
	}
	return list
}

// A foot says what the page was made from.
type foot struct {
	Tapes   []string
	Version string
	Raw     bool
	Left    []string // what was omitted, with the commands that show it
}

func (f *foot) html() h.Node {
	line := func(text string) h.Node { return h.Group{h.P(h.Text(text)), h.NL} }
	secrets := "Secrets that were found are replaced by [redacted]; not searched: images and other binary content, and passwords in prose. Read the page before you pass it on."
	if f.Raw {
		secrets = "Nothing was redacted."
	}
	return h.El("footer", h.Class("foot"), h.NL,
		h.Each(f.Tapes, func(tape string) h.Node { return h.Group{h.P(h.Text("Tape "), span("mono", tape)), h.NL} }),
		line("Made by acptap "+f.Version+". "+secrets), h.Each(f.Left, line))
}

// tapes returns lines about the tapes of the page.
func (r *reader) tapes() (list []string) {
	for _, t := range r.in.Tapes {
		list = append(list, termtext.Dotted(termtext.Line(t.Info.Tape), termtext.Line(tapetext.State(t.Info))))
	}
	return list
}

// usualLimit is the default size limit of a page, in bytes.
const usualLimit = 16 << 20

// limits bounds the bytes of each part of a page. Anything beyond is omitted; the page
// says so in that place, with the command that shows it.
type limits struct {
	page   int
	story  int // of turns, without images
	bytes  int // of frames
	images int // of all images, in base64
	image  int // of one image
	rest   int // reserved for everything else
	turns  int // number of turns, or groups of omitted turns, that the page links to
}

// leastRest is reserved for the style, the script and the other parts of every page.
const leastRest = 160 << 10

func (in *Input) limits() limits {
	page := usualLimit
	if in.Limit > 0 {
		page = int(in.Limit)
	}
	return limits{page: page, story: page / 8 * 3, bytes: page / 2, images: page / 2, image: page / 8, rest: max(page/16, leastRest), turns: max(1000*(page>>10)/(usualLimit>>10), 20)}
}

// rows returns the bytes left for the rows and the bytes of frames.
func (l limits) rows(story, images int) int {
	return max(min(l.page/8*5, l.page-l.rest-story-images), 0)
}
