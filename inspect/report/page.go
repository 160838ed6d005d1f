package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/termtext"
)

// The parts of the page. page.tmpl puts text from the wire only into text and into quoted
// attribute values that neither name nor draw anything.
var (
	//go:embed page.tmpl
	pageTemplate string
	//go:embed frames.tmpl
	framesTemplate string
	//go:embed diff.tmpl
	diffTemplate string
	//go:embed numbers.tmpl
	numbersTemplate string
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

// A page is the data for page.tmpl.
type page struct {
	Policy string // the content security policy
	Style  template.CSS
	Script template.JS

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

// A block is data for the script, in base64url, which html/template does not escape.
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
	t := parsePage()
	p := r.newPage()
	if last := r.in.Tapes[len(r.in.Tapes)-1].Info; last.Live && !last.Start.Time.IsZero() {
		p.Began = last.Start.Time.UnixMilli()
	}
	p.Foot.Tapes = r.tapes()
	var err error
	if p.Story, err = r.chapters(t); err != nil {
		return err
	}
	p.Head, p.Figures, p.Damage = r.head(), r.untold(), r.damage()
	p.Beside = r.overview(p.Story)
	p.Broken, p.Found = r.findings()
	p.Caps, p.Numbers = r.introductions(), r.numbers(p.Story)
	if len(p.Story) == 0 {
		p.Calls = r.calling()
	}
	r.forget(p.Story)
	p.list(r)
	return p.write(w, t)
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
		Policy: policy(), Style: template.CSS(pageStyle + framesStyle + numbersStyle), Script: template.JS(script()),
		Reload: r.in.Reload.Milliseconds(), Foot: foot{Version: r.in.Version, Raw: r.in.Raw},
	}
}

// list adds the list of frames, within the remaining room.
func (p *page) list(r *reader) {
	p.Blocks = r.rows.blocks(r.limits.rows(r.told+r.said.size, r.images.size), r.limits.bytes)
	p.Foot.Left = append(p.Foot.Left, r.rows.leftOut()...)
}

func parsePage() *template.Template {
	t, err := template.New("page").Funcs(template.FuncMap{"long": isLong, "title": titleRuns}).Parse(pageTemplate + framesTemplate + numbersTemplate + diffTemplate)
	if err != nil {
		panic("report: " + err.Error())
	}
	return t
}

// write writes the page.
func (p *page) write(w io.Writer, t *template.Template) error {
	p.name()
	out := bufio.NewWriterSize(w, 64<<10) // templates write in small pieces
	if err := t.Execute(out, p); err != nil {
		return err
	}
	return out.Flush()
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
