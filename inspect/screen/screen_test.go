package screen_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// TestMain has clocks show the same time wherever the tests run. Started by a test,
// it is a proxy that records, or an inspector whose memory is measured.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	tview.DoubleClickInterval = time.Hour // however slow the machine is
	if dir := os.Getenv(recordInto); dir != "" {
		recordForever(dir)
	}
	if dir := os.Getenv(browseIn); dir != "" {
		reportMemory(dir)
		return
	}
	os.Exit(m.Run())
}

// A terminal is a screen in memory that tells when something was drawn.
type terminal struct {
	tcell.SimulationScreen
	ready bool          // Init was called
	shown chan struct{} // holds one

	cancel func()
	done   chan error // how Run has ended

	mu   sync.Mutex
	last string // the last drawing
	hues string // the same, with a letter for what each character looks like
	bad  string // what should never have been drawn

	current string // text marked as the current match
}

func newTerminal(width, height int) *terminal {
	t := &terminal{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), shown: make(chan struct{}, 1)}
	if err := t.Init(); err != nil {
		panic(err)
	}
	t.SetSize(width, height)
	return t
}

// Init does nothing the second time, when the application calls it: that would
// change the size.
func (t *terminal) Init() error {
	if t.ready {
		return nil
	}
	t.ready = true
	return t.SimulationScreen.Init()
}

// Show stores the drawing. It runs in the event loop, the only place where the cells may be
// read.
func (t *terminal) Show() {
	t.SimulationScreen.Show()
	cells, width, height := t.GetContents()
	text := screenText(cells, width, height)
	t.mu.Lock()
	t.last, t.hues, t.current = text, screenHues(cells, width, height), currentMatch(cells)
	if bad := unfit(cells, width); bad != "" && t.bad == "" {
		t.bad = bad + " on\n" + text
	}
	t.mu.Unlock()
	select {
	case t.shown <- struct{}{}:
	default:
	}
}

// currentMatch returns the text that has the background of the current match.
func currentMatch(cells []tcell.SimCell) string {
	var b strings.Builder
	for _, c := range cells {
		if _, background, _ := c.Style.Decompose(); background == tcell.ColorOlive {
			b.WriteString(string(c.Runes))
		}
	}
	return b.String()
}

// unfit tells of a cell with what could control a terminal, or with a character
// that takes more columns than there are.
func unfit(cells []tcell.SimCell, width int) string {
	for i, c := range cells {
		for k, r := range c.Runes {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || k == 0 && unicode.In(r, unicode.Mn, unicode.Me) ||
				k == 0 && i%width == width-1 && runewidth.RuneWidth(r) > 1 {
				return fmt.Sprintf("%+q in column %d of line %d", string(c.Runes), i%width, i/width)
			}
		}
	}
	return ""
}

// text returns the content of the screen.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// screenText returns cells as lines, without blanks at their ends.
func screenText(cells []tcell.SimCell, width, height int) string {
	var b strings.Builder
	for y := range height {
		var line strings.Builder
		for x := 0; x < width; x++ {
			runes := cells[y*width+x].Runes
			for _, r := range runes {
				line.WriteRune(r)
			}
			if len(runes) > 0 && runewidth.RuneWidth(runes[0]) > 1 {
				x++ // nothing is drawn there; earlier content does not count
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// tooLate is how long a test or a benchmark waits before it fails: it may read a million
// frames, or run with the race detector while other tests run.
func tooLate() <-chan time.Time { return time.After(2 * time.Minute) }

// wait waits until the screen is as it should be.
func (t *terminal) wait(tb testing.TB, what string, ok func(screen string) bool) string {
	tb.Helper()
	late := tooLate()
	for {
		if s := t.text(); ok(s) {
			return s
		}
		select {
		case <-t.shown:
		case <-late:
			tb.Fatalf("waited for %s in vain; the screen:\n%s", what, t.text())
		}
	}
}

// judging finds the sign that the tape is being judged, on the first line.
var judging = regexp.MustCompile(`^[^\n]* 7 findings( [✗!·][0-9,]+)*…`)

// reads waits until the tape has been read and judged.
func (t *terminal) reads(tb testing.TB) {
	tb.Helper()
	t.wait(tb, "all frames", func(s string) bool {
		return strings.Contains(s, " of ") && !strings.Contains(s, "· read ") && !judging.MatchString(s)
	})
}

// press presses keys: each character is one, and those between < and > are one,
// such as <Enter>. Before what follows « » it waits for the words between them.
func (t *terminal) press(tb testing.TB, keys string) {
	tb.Helper()
	named := map[string]tcell.Key{
		"Enter": tcell.KeyEnter, "Esc": tcell.KeyEscape, "Tab": tcell.KeyTab, "Down": tcell.KeyDown, "Left": tcell.KeyLeft, "Right": tcell.KeyRight, "Up": tcell.KeyUp, "Backspace": tcell.KeyBackspace2,
		"^D": tcell.KeyCtrlD, "^U": tcell.KeyCtrlU, "^X": tcell.KeyCtrlX, "^R": tcell.KeyCtrlR, "PgDn": tcell.KeyPgDn,
	}
	for keys != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); ok && keys[0] == '<' {
			k, known := named[name]
			if !known {
				tb.Fatalf("no key %s", name)
			}
			t.post(tcell.NewEventKey(k, 0, tcell.ModNone))
			keys = rest
			continue
		}
		if words, rest, ok := strings.Cut(strings.TrimPrefix(keys, "«"), "»"); ok && strings.HasPrefix(keys, "«") {
			t.wait(tb, words, func(s string) bool { return strings.Contains(s, words) })
			keys = rest
			continue
		}
		r := []rune(keys)[0]
		t.post(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
		keys = keys[len(string(r)):]
	}
}

// post sends an event. InjectKey drops those for which there is no room.
func (t *terminal) post(e tcell.Event) {
	for t.PostEvent(e) != nil {
		time.Sleep(time.Millisecond)
	}
}

// colours returns the looks of the characters on the screen.
func (t *terminal) colours() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hues
}

// golden waits until the screen is as in the file of that name.
func (t *terminal) golden(tb testing.TB, name string) {
	tb.Helper()
	t.goldenOf(tb, name, t.text)
}

// goldenOf waits until something of the screen is as in the file of that name.
func (t *terminal) goldenOf(tb testing.TB, name string, shown func() string) {
	tb.Helper()
	path := filepath.Join("testdata", "screen", name+".txt")
	if *update {
		// There is no event to wait for: what has been drawn by now must suffice.
		for settled := false; !settled; {
			select {
			case <-t.shown:
			case <-time.After(400 * time.Millisecond):
				settled = !judging.MatchString(t.text())
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(shown()), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	late := tooLate()
	for shown() != string(want) {
		select {
		case <-t.shown:
		case <-late:
			tb.Fatalf("%s (-got +want):\n%s", name, cmp.Diff(shown(), string(want)))
		}
	}
}

// now is the time in tests: an hour after the tapes of testdata were recorded.
func now() time.Time { return time.Date(2026, 11, 21, 12, 40, 0, 0, time.UTC) }

var update = flag.Bool("update", false, "rewrite testdata with what is on the screen")

// tapeDir is where the tapes lie that real peers have made.
const tapeDir = "../../testdata/tapes"

// subject opens a portable file.
func subject(tb testing.TB, file string) screen.Subject {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(tapeDir, file))
	if err != nil {
		tb.Fatal(err)
	}
	return portableSubject(tb, filepath.Base(file), string(text))
}

// portableSubject has a tape that is written in the portable form. It opens on its first
// frame.
func portableSubject(tb testing.TB, name, text string) screen.Subject {
	tb.Helper()
	store := record.OpenStore(tb.TempDir())
	id, err := store.Import(strings.NewReader(text), name, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return screen.Subject{Name: name, Frame: 1, Open: func() ([]*record.Tape, error) { return tapes(store, id) }}
}

// has returns a condition for wait.
func has(words string) func(screen string) bool {
	return func(screen string) bool { return strings.Contains(screen, words) }
}

// open runs an inspector until close. A subject opens on its frames, unless the inspector has
// another place.
func open(tb testing.TB, in screen.Inspector, sub screen.Subject, width, height int) *terminal {
	tb.Helper()
	t := newTerminal(width, height)
	in.Screen, in.Now = t, now
	if sub.Open != nil && sub.Frame == 0 && in.Place == 0 {
		if err := in.Place.Set("frames"); err != nil {
			tb.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	done := make(chan error, 1)
	t.done = done
	go func() { done <- in.Run(ctx, sub) }()
	return t
}

// close ends an inspector, unless it has ended.
func (t *terminal) close(tb testing.TB) {
	tb.Helper()
	t.cancel()
	if t.done == nil {
		return
	}
	if err := <-t.done; err != nil {
		tb.Error(err)
	}
	t.done = nil
	if t.bad != "" {
		tb.Errorf("drawn: %s", t.bad)
	}
}

// start runs an inspector until the end of the test.
func start(tb testing.TB, in screen.Inspector, sub screen.Subject, width, height int) *terminal {
	tb.Helper()
	t := open(tb, in, sub, width, height)
	tb.Cleanup(func() { t.close(tb) })
	return t
}

// tapes opens one tape.
func tapes(store *record.Store, id string) ([]*record.Tape, error) {
	tape, err := store.Open(id)
	return []*record.Tape{tape}, err
}
