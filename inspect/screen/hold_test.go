package screen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A fakeProxy is a proxy with waiting frames. It logs the commands that it gets.
type fakeProxy struct {
	tape string // it listens only for this one

	mu    sync.Mutex
	tell  func(screen.ControlEvent)
	held  []screen.HeldFrame
	lines map[uint64]string
	rules []screen.ProxyRule
	slow  chan struct{} // not nil: an answer about the rules waits for it
	asked chan string
	wrong error // the answer to all that is asked
	ready chan struct{}
}

func newFakeProxy() *fakeProxy {
	return &fakeProxy{asked: make(chan string, 100), lines: map[uint64]string{}, ready: make(chan struct{})}
}

func (p *fakeProxy) Connect(_ context.Context, tape string, tell func(screen.ControlEvent)) (screen.Control, error) {
	if tape != p.tape {
		return nil, errors.New("nobody listens")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = tell
	for _, h := range p.held {
		tell(screen.ControlEvent{Held: &h})
	}
	close(p.ready)
	return p, nil
}

func (p *fakeProxy) note(format string, args ...any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked <- fmt.Sprintf(format, args...)
	return p.wrong
}

// fails makes all that is asked from now on fail.
func (p *fakeProxy) fails(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = err
}

func (p *fakeProxy) Ping()                           {}
func (p *fakeProxy) Close()                          {}
func (p *fakeProxy) Hold(filter string) error        { return p.note("hold %s", filter) }
func (p *fakeProxy) ReleaseAll() error               { return p.note("release all") }
func (p *fakeProxy) Drop(id uint64) error            { return p.note("drop %d", id) }
func (p *fakeProxy) AddRule(text string) error       { return p.note("add %s", text) }
func (p *fakeProxy) Frame(id uint64) ([]byte, error) { return []byte(p.lines[id]), nil }

func (p *fakeProxy) Release(id uint64, line []byte) error {
	if line == nil {
		return p.note("release %d", id)
	}
	return p.note("release %d as %s", id, line)
}

func (p *fakeProxy) Answer(id uint64, result, failure []byte) error {
	return p.note("answer %d %s%s", id, result, failure)
}

func (p *fakeProxy) Inject(to wire.Direction, line []byte) ([]byte, error) {
	return nil, p.note("inject %v %s", to, line)
}

func (p *fakeProxy) Rules() ([]screen.ProxyRule, error) {
	p.mu.Lock()
	rules, slow := slices.Clone(p.rules), p.slow
	p.mu.Unlock()
	if slow != nil {
		p.asked <- "rules"
		<-slow
	}
	return rules, nil
}

func (p *fakeProxy) EnableRule(name string, on bool) error {
	p.mu.Lock()
	for i := range p.rules {
		if p.rules[i].Name == name {
			p.rules[i].Off = !on
		}
	}
	p.mu.Unlock()
	return p.note("enable %s %v", name, on)
}

// wants waits for the proxy to get a command.
func (p *fakeProxy) wants(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-p.asked:
		if got != want {
			t.Errorf("the proxy was asked for %s, want %s", got, want)
		}
	case <-tooLate():
		t.Fatalf("the proxy was not asked for %s", want)
	}
}

// asksNothing ends the inspector, which first asks all that it has begun to ask, and checks
// that nothing more was asked.
func (p *fakeProxy) asksNothing(t *testing.T, term *terminal) {
	t.Helper()
	term.close(t)
	select {
	case got := <-p.asked:
		t.Errorf("the proxy was asked for %s", got)
	default:
	}
}

const (
	askLine    = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"call-2","title":"Edit mean.go"},"options":[{"optionId":"y","name":"Allow once","kind":"allow_once"},{"optionId":"a","name":"Always allow","kind":"allow_always"},{"optionId":"n","name":"Reject","kind":"reject_once"}]}}`
	updateLine = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call-2","status":"in_progress"}}}`
	readLine   = `{"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}`
)

// heldTape records a tape on which frames wait: a request for a permission, an update
// behind it, and a request to read a file.
func heldTape(t *testing.T) (*record.Store, run, *fakeProxy) {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "/w")
	t.Cleanup(live.ends)
	p := newFakeProxy()
	p.tape = live.Tape()
	live.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Mend it"}]}}`)
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call-2","title":"Edit mean.go","kind":"edit","status":"pending"}}}`)
	for i, line := range []string{askLine, updateLine, readLine} {
		h := screen.HeldFrame{ID: uint64(i + 1), Dir: wire.AgentToClient, Kind: wire.Request, Rule: "ask", At: now().Add(-14 * time.Second)}
		if i > 0 {
			h.Behind = 1
		}
		if i == 1 {
			h.Kind, h.Rule = wire.Notification, ""
		}
		p.held = append(p.held, h)
		p.lines[h.ID] = line
		live.hold(h, line)
	}
	return store, live, p
}

// An editor is a View that changes the text it gets, and logs it.
type editor struct {
	got    chan string
	change func(text string) (string, error) // an error: the file is deleted
}

func newEditor() *editor { return &editor{got: make(chan string, 10)} }

func (e *editor) view(_, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		return fmt.Errorf("mode %v, %v", info, err)
	}
	e.got <- string(text)
	typed, err := e.change(string(text))
	if err != nil {
		return os.Remove(path)
	}
	return os.WriteFile(path, []byte(typed), 0o600)
}

// openHeld opens the inspector on that tape, with the request for a permission selected.
func openHeld(t *testing.T, width, height int) (*terminal, *fakeProxy, *editor) {
	t.Helper()
	store, live, p := heldTape(t)
	e := newEditor()
	e.change = func(text string) (string, error) { return text, nil }
	term := start(t, screen.Inspector{Store: store, Controls: p, View: e.view}, screen.TapesOf(store, "", live.Tape()), width, height)
	<-p.ready
	term.wait(t, "what is held, on the tape too", all("‖ 3 held, oldest 14.0 s", "‖   4", "‖   6", "‖   8"))
	term.press(t, ":4<Enter>«─ frame 4 · request session/request_permission · held by ask»")
	return term, p, e
}

var (
	rowTime  = regexp.MustCompile(`(?m)^(.  +[0-9]+ +)[0-9]\.[0-9]{3}`)
	waitTime = regexp.MustCompile(` *waits [0-9.]+ (µs|ms|s)`)
	tapeID   = regexp.MustCompile(`[0-9T]{18}-[0-9a-z]{6}`)
)

// withoutTimes leaves out what differs from run to run on these screens.
func withoutTimes(screen string) string {
	screen = rowTime.ReplaceAllString(screen, "${1}0.000")
	return tapeID.ReplaceAllString(waitTime.ReplaceAllString(screen, " waits"), "TAPE")
}

// TestHeldScreens shows what waits.
func TestHeldScreens(t *testing.T) {
	for _, tt := range []struct{ name, keys string }{
		{"held", ""},
		{"held-behind", "u«frame 6»"},
		{"held-answer", "r«1 Allow once»"},
		{"held-rules", "T«kind:request»"},
		{"held-filter", "W«hold session:s»"},
	} {
		atSizes(t, tt.name, []size{{80, 24}, {200, 50}}, func(t *testing.T, name string, s size) {
			term, p, _ := openHeld(t, s.width, s.height)
			p.mu.Lock()
			p.rules = []screen.ProxyRule{{Name: "ask", Text: "kind:request dir:agent => hold", Hits: 2}, {Name: "late", Text: "update:* => delay 1s", Off: true}, {Name: "user-1", Text: "session:s => hold", Own: true}}
			p.mu.Unlock()
			term.press(t, tt.keys)
			term.goldenOf(t, name, func() string { return withoutTimes(term.text()) })
		})
	}
}

// TestHeldKeys: keys decide about the frame that is selected.
func TestHeldKeys(t *testing.T) {
	oneWith := func(old, new string) string { return strings.Replace(askLine, old, new, 1) }
	for _, tt := range []struct {
		name, keys string
		want       []string
		change     func(text string) (string, error)
	}{
		{"go", "p", []string{"release 1"}, nil},
		{"go behind", "u«frame 6»up", []string{"release 3"}, nil},
		{"all", "P", []string{"hold ", "release all"}, nil},
		{"drop", "K", []string{"drop 1"}, nil},
		{"first the oldest", ":1<Enter>« 1 of »p«this is the oldest frame that waits»p", []string{"release 1"}, nil},
		{"step", "W", []string{"hold session:s"}, nil},
		{"hold", "Hupdate:tool_call<Enter>", []string{"hold update:tool_call"}, nil},
		{"by number", "r2<Enter>", []string{`answer 1 {"outcome":{"outcome":"selected","optionId":"a"}}`}, nil},
		{"by name", "rrej<Tab><Enter>", []string{`answer 1 {"outcome":{"outcome":"selected","optionId":"n"}}`}, nil},
		{"cancelled", "r4<Enter>", []string{`answer 1 {"outcome":{"outcome":"cancelled"}}`}, nil},
		{"none", "r9<Enter>«this is none of the options»<Backspace>1<Enter>", []string{`answer 1 {"outcome":{"outcome":"selected","optionId":"y"}}`}, nil},
		{"result", "uu«frame 8»r«answer (JSON, or: error TEXT): {}»<Backspace><Enter>«this is not JSON»\"a\":1}<Enter>", []string{`answer 3 {"a":1}`}, nil},
		{"error", "uu«frame 8»r<^U>error no such file<Enter>", []string{`answer 3 {"code":-32603,"message":"no such file"}`}, nil},
		{"no request", "u«frame 6»r«only a request can be answered»", nil, nil},
		{"unchanged", "c", []string{"release 1"}, nil},
		{"edited", "c", []string{"release 1 as " + oneWith("Edit mean.go", "Edit all")}, func(text string) (string, error) {
			return strings.Replace(text, "Edit mean.go", "Edit all", 1), nil
		}},
		{"broken", "c«Send it broken? yes or no»yes<Enter>", []string{"release 1 as not { JSON"}, func(string) (string, error) { return "not\n{ JSON\n", nil }},
		{"another id", "c«this has another id. Send it? yes or no»yes<Enter>", []string{"release 1 as " + oneWith(`"id":7`, `"id":9`)}, func(text string) (string, error) {
			return strings.Replace(text, `"id": 7`, `"id": 9`, 1), nil
		}},
		{"another session", "c«another session. Send it?»no<Enter>«it still waits»", nil, func(text string) (string, error) {
			return strings.Replace(text, `"sessionId": "s"`, `"sessionId": "t"`, 1), nil
		}},
		{"deleted", "c«the file is gone, so nothing is sent»", nil, func(string) (string, error) { return "", errors.New("deleted") }},
		{"value", "<Tab>/Edit mean<Enter>C«params.toolCall.title: \"Edit mean.go\"»<^U>Edit<Enter>«put double quotes around a text»<^U>\"x\"<Enter>", []string{"release 1 as " + oneWith("Edit mean.go", "x")}, nil},
		{"no value", "C«Tab goes to the frame»", nil, nil},
		{"resend", ":2<Enter>« 2 of »B«send frame 2 again, to: client»<Enter>", []string{`inject a2c {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call-2","title":"Edit mean.go","kind":"edit","status":"pending"}}}`}, nil},
		{"resend to nobody", ":2<Enter>« 2 of »B<^U>me<Enter>«agent or client»", nil, nil},
		{"resend a prompt", ":1<Enter>« 1 of »B<Enter>«a turn of this session is running. Send the prompt? yes or no»no<Enter>", nil, nil},
		{"inject", "I«send to agent or client a: agent»session/cancel<Enter>", []string{`inject c2a {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`}, nil},
		{"inject nothing", "Isession/cancel<Enter>«nothing is sent»", nil, func(string) (string, error) { return "\n", nil }},
		{"inject like the last", "I<^U>client session/update<Enter>", []string{"inject a2c " + strings.Replace(updateLine, "in_progress", "completed", 1)}, func(text string) (string, error) {
			return strings.Replace(text, "in_progress", "completed", 1), nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term, p, e := openHeld(t, 120, 30)
			if tt.change != nil {
				e.change = tt.change
			}
			term.press(t, tt.keys)
			for _, want := range tt.want {
				p.wants(t, want)
			}
			p.asksNothing(t, term)
		})
	}
}

// TestTypedIsKept: typed text reappears after a no, and is in a file after an error.
func TestTypedIsKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	term, p, e := openHeld(t, 300, 30)
	e.change = func(string) (string, error) { return "first try", nil }
	term.press(t, "c«Send it broken?»no<Enter>«it still waits; c goes on with what you typed»")
	<-e.got
	e.change = func(text string) (string, error) { return text + " and another", nil }
	p.fails(errors.New("no frame waits as 1"))
	term.press(t, "c«Send it broken?»yes<Enter>")
	if got := <-e.got; got != "first try" {
		t.Errorf("the editor got %q", got)
	}
	p.wants(t, "release 1 as first try and another")
	screen := term.wait(t, "where it is", has("json: no frame waits as 1"))
	_, path, _ := strings.Cut(screen, "what you typed is in ")
	path, _, _ = strings.Cut(path, ".json")
	if got, err := os.ReadFile(strings.TrimSpace(path) + ".json"); err != nil || string(got) != "first try and another" {
		t.Errorf("got %q and %v", got, err)
	}
}

// TestWrongFilter: a filter that the proxy refuses can be corrected.
func TestWrongFilter(t *testing.T) {
	term, p, _ := openHeld(t, 120, 30)
	p.fails(errors.New("seq is not known while frames pass"))
	term.press(t, "Hseq:1<Enter>«seq is not known while frames pass»«hold (empty: nothing): seq:1»")
	p.wants(t, "hold seq:1")
}

// TestHoldRefused: the inspector shows only a hold that the proxy has accepted.
func TestHoldRefused(t *testing.T) {
	term, p, _ := openHeld(t, 120, 30)
	term.press(t, "Hupdate:plan<Enter>« · hold update:plan · »")
	p.fails(errors.New("not now"))
	term.press(t, "P«not now»")
	term.press(t, "H«hold (empty: nothing): update:plan»<^U>seq:1<Enter>«not now»«hold (empty: nothing): seq:1»<Esc>« · hold update:plan · »")
	p.fails(nil)
	term.press(t, "P")
	term.wait(t, "that nothing is held by a filter", func(s string) bool { return !strings.Contains(s, "hold update:plan") })
}

// TestHoldOddSession: a session is held by a filter that selects it, whatever its name is.
func TestHoldOddSession(t *testing.T) {
	for name, want := range map[string]string{"1..2": `hold session:"1..2"`, `~a\\n`: `hold session:"~a\\\n"`, "a:b!": "hold session:a:b!"} {
		store := record.OpenStore(t.TempDir())
		live := begin(t, store, "agent", "/w")
		t.Cleanup(live.ends)
		live.says(wire.AgentToClient, strings.Replace(updateLine, `"sessionId":"s"`, `"sessionId":`+string(wire.Quote(name)), 1))
		p := newFakeProxy()
		p.tape = live.Tape()
		p.held = []screen.HeldFrame{{ID: 1, Dir: wire.AgentToClient, Rule: "ask", At: now()}}
		term := start(t, screen.Inspector{Store: store, Controls: p}, screen.TapesOf(store, "", live.Tape()), 120, 24)
		term.wait(t, "the connection", func(s string) bool { return strings.Contains(s, "1 of 1") && strings.Contains(s, "‖ 1 held") })
		term.press(t, "W")
		p.wants(t, want)
	}
}

// TestRulesPage switches rules on and off, and adds one.
func TestRulesPage(t *testing.T) {
	term, p, _ := openHeld(t, 120, 30)
	p.mu.Lock()
	p.rules = []screen.ProxyRule{{Name: "ask", Text: "kind:request => hold", Hits: 2}, {Name: "late", Text: "update:* => delay 1s"}}
	p.mu.Unlock()
	term.press(t, "T«update:* => delay 1s»j<Enter>«off »")
	p.wants(t, "enable late false")
	term.press(t, "aupdate:* => drop<Enter>")
	p.wants(t, "add update:* => drop")
	p.mu.Lock()
	p.rules[0].Hits = 3
	p.mu.Unlock()
	p.tell(screen.ControlEvent{Hit: true})
	term.wait(t, "the next hit", has(" 3  ask"))

	// A hit while the rules are being read is not missed.
	slow := make(chan struct{})
	p.mu.Lock()
	p.slow = slow
	p.mu.Unlock()
	p.tell(screen.ControlEvent{Hit: true})
	p.wants(t, "rules")
	p.mu.Lock()
	p.rules[0].Hits = 4
	p.mu.Unlock()
	p.tell(screen.ControlEvent{Hit: true})
	p.tell(screen.ControlEvent{Held: &screen.HeldFrame{ID: 4, Dir: wire.AgentToClient, Behind: 1, At: now()}})
	term.wait(t, "what came after the hit", has("‖ 4 held"))
	close(slow)
	term.wait(t, "the last hit", has(" 4  ask"))
	term.press(t, "<Esc>«─ frame 4»")
}

// TestHeldGone: the next frame that waits is selected when one has gone; and when the
// proxy ends, nothing waits.
func TestHeldGone(t *testing.T) {
	term, p, _ := openHeld(t, 120, 30)
	p.tell(screen.ControlEvent{Gone: 1})
	p.tell(screen.ControlEvent{Gone: 2})
	h := p.held[2]
	h.Behind = 0
	p.tell(screen.ControlEvent{Held: &h})
	term.wait(t, "the next one", func(s string) bool { return strings.Contains(s, "─ frame 8 ·") && strings.Contains(s, "‖ 1 held") })
	p.tell(screen.ControlEvent{Over: errors.New("the proxy has ended")})
	term.wait(t, "the end", func(s string) bool { return strings.Contains(s, "the proxy has ended") && !strings.Contains(s, "‖") })
}

// hold records a frame that waits for the user.
func (r run) hold(h screen.HeldFrame, line string) {
	r.t.Helper()
	r.Note(h.Dir, wire.Marked{Rule: &wire.Rule{Name: "ask", Did: fmt.Sprintf("hold %d", h.ID), Frames: 1, Hold: h.ID}})
	if err := r.Append(h.Dir, wire.Withheld, []byte(line+"\n")); err != nil {
		r.t.Fatal(err)
	}
}

// TestHeldMany: very many held frames are found on the tape in time. If each were looked for
// in its own pass, these would take hours.
func TestHeldMany(t *testing.T) {
	const many = 5000
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "/w")
	t.Cleanup(live.ends)
	p := newFakeProxy()
	p.tape = live.Tape()
	for i := range uint64(many) {
		h := screen.HeldFrame{ID: i + 1, Dir: wire.AgentToClient, Kind: wire.Notification, Rule: "ask", Behind: min(i, 1), At: now()}
		p.held = append(p.held, h)
		live.hold(h, updateLine)
	}
	term := start(t, screen.Inspector{Store: store, Controls: p}, screen.TapesOf(store, "", live.Tape()), 120, 24)
	term.wait(t, "the holds", has(fmt.Sprintf("‖ %d held", many)))
	term.press(t, "«‖10,000 »p")
	p.wants(t, fmt.Sprintf("release %d", many))
}

// TestHeldLate: a frame whose event comes after it is on the tape is found there.
func TestHeldLate(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "/w")
	t.Cleanup(live.ends)
	p := newFakeProxy()
	p.tape = live.Tape()
	held := func(id uint64) screen.HeldFrame {
		return screen.HeldFrame{ID: id, Dir: wire.AgentToClient, Kind: wire.Notification, Rule: "ask", At: now()}
	}
	p.held = []screen.HeldFrame{held(1)}
	live.hold(held(1), updateLine)
	live.hold(held(2), updateLine)
	term := start(t, screen.Inspector{Store: store, Controls: p}, screen.TapesOf(store, "", live.Tape()), 120, 24)
	term.wait(t, "all frames", has("4 of 4"))
	term.wait(t, "the first one", has("‖ 1 held"))
	term.press(t, "u«─ frame 2 ·»")
	h := held(2)
	p.tell(screen.ControlEvent{Held: &h})
	term.wait(t, "the next one", has("‖ 2 held"))
	term.press(t, "u«─ frame 4 ·»p")
	p.wants(t, "release 2")
}

// TestNotListening: the keys say why they do nothing.
func TestNotListening(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "/w")
	live.says(wire.AgentToClient, updateLine)
	term := start(t, screen.Inspector{Store: store, Controls: newFakeProxy()}, screen.TapesOf(store, "", live.Tape()), 120, 24)
	term.wait(t, "the frame", has("1 of 1"))
	for _, key := range []string{"H", "W", "p", "P", "c", "C", "r", "K", "I", "B", "T"} {
		term.press(t, key+"«this proxy does not listen: start acptap proxy with --ctl, or --hold FILTER»u")
		term.wait(t, "the next key", func(s string) bool { return !strings.Contains(s, "does not listen") })
	}
	live.ends()
	term.press(t, "p")
	file := start(t, screen.Inspector{}, portableSubject(t, "tape", changed), 120, 24)
	file.reads(t)
	file.press(t, "p«this is a file: only a proxy that runs can hold frames»")
}

// TestTypedWhenGone: typed text is in a file if the frame goes, or the proxy ends, before the
// text is sent.
func TestTypedWhenGone(t *testing.T) {
	for name, how := range map[string]struct {
		keys  string
		event screen.ControlEvent
		then  string
	}{
		"gone":          {"no<Enter>«it still waits»", screen.ControlEvent{Gone: 1}, ""},
		"escape":        {"<Esc>«it still waits»", screen.ControlEvent{Gone: 1}, ""},
		"over":          {"no<Enter>«it still waits»", screen.ControlEvent{Over: errors.New("the proxy has ended")}, ""},
		"over, and yes": {"", screen.ControlEvent{Over: errors.New("the proxy has ended")}, "«the proxy has ended»yes<Enter>"},
		"gone, and no":  {"", screen.ControlEvent{Gone: 1}, "«‖ 2 held»no<Enter>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			term, p, e := openHeld(t, 300, 30)
			e.change = func(string) (string, error) { return "not lost", nil }
			term.press(t, "c«Send it broken?»"+how.keys)
			p.tell(how.event)
			switch {
			case strings.Contains(how.then, "‖"): // the prompt hides it
				p.tell(screen.ControlEvent{Gone: 2})
				term.wait(t, "that the frame goes", func(s string) bool { return !strings.Contains(s, "‖   4") && !strings.Contains(s, "‖   6") })
				term.press(t, "no<Enter>")
			case how.then != "":
				term.wait(t, "that nothing is held", func(s string) bool { return !strings.Contains(s, "‖") })
				term.press(t, "yes<Enter>")
			}
			shown := term.wait(t, "where it is", has("what you typed is in "))
			_, path, _ := strings.Cut(shown, "what you typed is in ")
			path, _, _ = strings.Cut(path, ".json")
			if got, err := os.ReadFile(strings.TrimSpace(path) + ".json"); err != nil || string(got) != "not lost" {
				t.Errorf("got %q and %v", got, err)
			}
		})
	}
}
