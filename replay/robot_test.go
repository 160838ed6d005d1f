package replay_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A robot is a client that sends the messages of a tape's client in its own manner.
type robot struct {
	name string

	// order changes the order of the messages; nil keeps it.
	order func(lines []line) []line
	// wait reports whether the client waits before it sends lines[i].
	wait      func(r *scene, lines []line, i int) bool
	stringIDs bool // 7 is sent as "c7"
	slow      bool // reads late
	leaves    bool // does not answer requests answered as cancelled on the tape
	extra     bool // answers requests that are unanswered on the tape
	patience  bool // it is a miss that only waiting can tell, if the tape has a cancel
}

// A line is a message on a tape, entries of batches apart.
type line struct {
	f     dialect.Frame
	about dialect.Annotation
	raw   []byte
	e     wire.Envelope
}

func (l line) fromClient() bool { return l.f.Dir == wire.ClientToAgent }

// robots are the manners in which a client may behave.
var robots = []robot{
	{name: "lockstep", wait: allBefore},
	{name: "eager"},
	{name: "one at a time", order: cancelEarly, wait: unanswered},
	{name: "sessions swapped", order: swapped, wait: lackingSession},
	{name: "calls swapped", order: callsSwapped, wait: lackingSession},
	{name: "waits for notifications", wait: notifications},
	{name: "cancels early", order: cancelEarly, wait: lackingSession},
	{name: "never cancels", order: without("session/cancel"), wait: lackingSession, patience: true},
	{name: "leaves permissions after a cancel", wait: allBefore, leaves: true},
	{name: "answers what was left", wait: allBefore, extra: true},
	{name: "slow reader", slow: true},
	{name: "string ids", wait: allBefore, stringIDs: true},
}

func allBefore(s *scene, lines []line, i int) bool {
	for _, seq := range s.agentBefore(lines[i].f.Seq) {
		if !s.got[seq] {
			return true
		}
	}
	return false
}

func unanswered(s *scene, lines []line, i int) bool {
	for _, l := range lines[:i] {
		if l.e.Kind == wire.Request && s.hasAnswer[string(l.e.ID)] && !s.answered[string(l.e.ID)] && lines[i].e.Kind == wire.Request {
			return true
		}
	}
	return lackingSession(s, lines, i)
}

// lackingSession keeps a client from naming a session that it does not know.
func lackingSession(s *scene, lines []line, i int) bool {
	id := wire.ValueAt(lines[i].e.Params, "sessionId").Text()
	setup := s.setups[id]
	return setup != "" && !s.answered[setup]
}

func notifications(s *scene, lines []line, i int) bool {
	if lackingSession(s, lines, i) {
		return true
	}
	if lines[i].about.Method != "session/prompt" {
		return false
	}
	for _, l := range s.all {
		if l.f.Seq > lines[i].f.Seq {
			break
		}
		if l.about.Update == "available_commands_update" && l.about.Session == lines[i].about.Session && !s.got[l.f.Seq] {
			return true
		}
	}
	return false
}

// swapped sends all of the last session first, but what makes sessions.
func swapped(lines []line) []line {
	session := func(l line) string { return l.e.Params.Get("sessionId").Text() }
	var names []string
	for _, l := range lines {
		if s := session(l); s != "" && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b line) int {
		return slices.Index(names, session(b))*b2i(session(b) != "") - slices.Index(names, session(a))*b2i(session(a) != "")
	})
	var setups, rest []line
	for _, l := range lines {
		if session(l) == "" {
			setups = append(setups, l)
		} else {
			rest = append(rest, l)
		}
	}
	return append(setups, rest...)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// callsSwapped swaps neighbours that are calls of no turn.
func callsSwapped(lines []line) []line {
	lines = slices.Clone(lines)
	free := func(l line) bool {
		switch l.about.Method {
		case "session/list", "tools/list", "resources/list", "prompts/list", "session/set_mode", "tools/call":
			return l.e.Kind == wire.Request
		}
		return false
	}
	for i := 0; i+1 < len(lines); i++ {
		if free(lines[i]) && free(lines[i+1]) && lines[i].about.Method != lines[i+1].about.Method {
			lines[i], lines[i+1] = lines[i+1], lines[i]
			i++
		}
	}
	return lines
}

func cancelEarly(lines []line) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		if lines[i].about.Method != "session/cancel" {
			continue
		}
		for k := i; k > 0 && !(lines[k-1].about.Method == "session/prompt" && lines[k-1].about.Session == lines[k].about.Session); k-- {
			lines[k], lines[k-1] = lines[k-1], lines[k]
		}
	}
	return lines
}

func without(method string) func([]line) []line {
	return func(lines []line) []line {
		return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.about.Method == method })
	}
}

// A scene is one run of a robot.
type scene struct {
	robot  robot
	all    []line
	mine   []line
	in     io.WriteCloser
	change *sync.Cond // mu

	mu        sync.Mutex
	got       map[uint64]bool // frames of the agent
	lines     []string        // as they came
	junk      []string        // likewise, those that are no messages
	stderr    bytes.Buffer    // to be read when the agent has ended
	answered  map[string]bool // requests, by recorded id
	hasAnswer map[string]bool
	setups    map[string]string // id of the request by session
	ended     bool
}

func readLines(t testing.TB, tape *record.Tape) []line {
	t.Helper()
	var all []line
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		f.Raw = bytes.Clone(f.Raw)
		switch f.Kind {
		case wire.Request, wire.Response, wire.Notification:
			all = append(all, line{f, f.Annotation, f.Raw, wire.Scan(f.Raw)})
		case wire.Batch:
			wire.Entries(f.Raw, func(i int, entry []byte) bool {
				all = append(all, line{f, f.Entries[i], entry, wire.Scan(entry)})
				return true
			})
		}
	}
	return all
}

func (s *scene) agentBefore(seq uint64) []uint64 {
	var before []uint64
	for _, l := range s.all {
		if l.f.Seq < seq && !l.fromClient() {
			before = append(before, l.f.Seq)
		}
	}
	return before
}

// liveID returns the id that the robot gives to a request.
func (s *scene) liveID(id []byte) string {
	if s.robot.stringIDs {
		return fmt.Sprintf("%q", "c"+strings.Trim(string(id), `"`))
	}
	return string(id)
}

// recordedID returns what liveID was given.
func (s *scene) recordedID(id string) string {
	if s.robot.stringIDs {
		return strings.TrimPrefix(strings.Trim(id, `"`), "c")
	}
	return id
}

// asRecorded returns a message of the agent with the recorded ids of the client's
// requests, but for that which it answers.
func (s *scene) asRecorded(text []byte) []byte {
	set := func(path ...string) {
		id := wire.ValueOf(text)
		for _, key := range path {
			id = id.Get(strings.ReplaceAll(key, ".", `\.`))
		}
		if id.Exists() {
			text = wire.Set(text, []byte(s.recordedID(id.Raw())), path...)
		}
	}
	set("params", "_meta", "io.modelcontextprotocol/subscriptionId")
	set("result", "_meta", "io.modelcontextprotocol/subscriptionId")
	if wire.ValueAt(text, "method").Text() == "elicitation/create" {
		set("params", "requestId")
	}
	return text
}

// run lets the robot talk to a replayed agent until both are done. That plays the
// robot's tape, if it has no other.
func (r robot) run(t *testing.T, tape *record.Tape, agent replay.Agent) (*scene, replay.Report, error) {
	t.Helper()
	all := readLines(t, tape)
	s := &scene{
		robot: r, all: all,
		got: map[uint64]bool{}, answered: map[string]bool{}, hasAnswer: map[string]bool{}, setups: map[string]string{},
	}
	s.change = sync.NewCond(&s.mu)
	for _, l := range all {
		switch {
		case l.fromClient() && l.e.Kind != wire.Response:
			s.mine = append(s.mine, l)
		case !l.fromClient() && l.e.Kind == wire.Response:
			s.hasAnswer[string(l.e.ID)] = true
			if l.about.Method == "session/new" {
				s.setups[l.about.Session] = string(l.e.ID)
			}
		}
	}
	if r.order != nil {
		s.mine = r.order(s.mine)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s.in = inW
	var report replay.Report
	var err error
	done := make(chan struct{})
	if agent.Tapes == nil {
		agent.Tapes = []*record.Tape{tape}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(done)
		report, err = agent.Run(ctx, inR, outW, &s.stderr)
		outW.Close()
	}()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		s.listen(outR)
	}()
	s.talk()
	s.settle()
	inW.Close()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("the agent does not end at the client's EOF")
		cancel()
		outR.Close()
		<-done
	}
	<-heard
	if want := replaytest.Said(t, tape, wire.AgentStderr); !bytes.Equal(s.stderr.Bytes(), want) {
		t.Errorf("stderr: got %q, want %q", &s.stderr, want)
	}
	var junk []string
	for line := range bytes.Lines(replaytest.Said(t, tape, wire.AgentToClient)) {
		if line = bytes.TrimRight(line, "\r\n"); wire.Scan(line).Kind == wire.Invalid {
			junk = append(junk, string(line))
		}
	}
	if !slices.Equal(s.junk, junk) {
		t.Errorf("lines that are no messages: got %q, want %q", s.junk, junk)
	}
	return s, report, err
}

// talk sends the robot's own messages.
func (s *scene) talk() {
	for i, l := range s.mine {
		s.mu.Lock()
		deadline := time.Now().Add(3 * time.Second)
		for s.robot.wait != nil && !s.ended && s.robot.wait(s, s.mine, i) && time.Now().Before(deadline) {
			wake := time.AfterFunc(50*time.Millisecond, s.change.Broadcast)
			s.change.Wait()
			wake.Stop()
		}
		s.mu.Unlock()
		raw := l.raw
		if l.e.ID != nil {
			raw = wire.Set(raw, []byte(s.liveID(l.e.ID)), "id")
		}
		if id := wire.ValueAt(raw, "params.requestId"); id.Exists() {
			raw = wire.Set(raw, []byte(s.liveID([]byte(id.Raw()))), "params", "requestId")
		}
		s.say(raw)
	}
}

func (s *scene) say(raw []byte) {
	s.in.Write(append(bytes.Clone(raw), '\n')) // fails if the agent has ended
}

// settle waits until the requests are answered and the agent is silent.
func (s *scene) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, quiet := -1, 0
	for deadline := time.Now().Add(10 * time.Second); quiet < 3 && !s.ended && time.Now().Before(deadline); {
		open := false
		for _, l := range s.mine {
			open = open || l.e.Kind == wire.Request && s.hasAnswer[string(l.e.ID)] && !s.answered[string(l.e.ID)]
		}
		if quiet++; len(s.lines) != n || open {
			n, quiet = len(s.lines), 0
		}
		wake := time.AfterFunc(10*time.Millisecond, s.change.Broadcast)
		s.change.Wait()
		wake.Stop()
	}
}

// listen handles the agent's messages, and answers requests.
func (s *scene) listen(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	if s.robot.slow {
		time.Sleep(200 * time.Millisecond)
	}
	for {
		text, err := r.ReadBytes('\n')
		if e := wire.Scan(text); e.Kind == wire.Batch {
			wire.Entries(text, func(_ int, entry []byte) bool {
				s.hear(bytes.Clone(entry))
				return true
			})
		} else if len(text) > 0 {
			s.hear(text)
		}
		if err != nil {
			s.mu.Lock()
			s.ended = true
			s.change.Broadcast()
			s.mu.Unlock()
			return
		}
	}
}

func (s *scene) hear(text []byte) {
	text = s.asRecorded(bytes.TrimRight(text, "\r\n"))
	e := wire.Scan(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change.Broadcast()
	if e.Kind == wire.Invalid {
		s.junk = append(s.junk, string(text))
		return
	}
	s.lines = append(s.lines, string(text))
	var recorded *line
	for i := range s.all {
		l := &s.all[i]
		if l.fromClient() || l.e.Kind != e.Kind || s.got[l.f.Seq] && l.f.Kind != wire.Batch {
			continue
		}
		if e.Kind == wire.Response && s.liveID(l.e.ID) == string(e.ID) && !s.answered[string(l.e.ID)] || e.Kind != wire.Response && bytes.Equal(l.raw, text) {
			recorded = l
			break
		}
	}
	if recorded == nil {
		return
	}
	s.got[recorded.f.Seq] = true
	switch e.Kind {
	case wire.Response:
		s.answered[string(recorded.e.ID)] = true
	case wire.Request:
		s.reply(*recorded)
	}
}

// reply answers a request of the agent as on the tape.
func (s *scene) reply(request line) {
	for _, l := range s.all {
		if l.fromClient() && l.e.Kind == wire.Response && l.about.Request == request.f.Seq && bytes.Equal(l.e.ID, request.e.ID) {
			if !s.robot.leaves || l.e.Result.Get("outcome.outcome").Text() != "cancelled" {
				go s.say(l.raw)
			}
			return
		}
	}
	if s.robot.extra {
		go s.say([]byte(`{"jsonrpc":"2.0","id":` + string(request.e.ID) + `,"result":{}}`))
	}
}

// transcript returns the agent's messages by the session that they name, each in
// its order, with the ids of the client's requests as recorded.
func transcript(lines []string, recordedID func(string) string) map[string][]string {
	all := map[string][]string{}
	for _, text := range lines {
		session := wire.ValueAt(text, "params.sessionId").Text()
		if id := wire.ValueAt(text, "id"); id.Exists() && !wire.ValueAt(text, "method").Exists() {
			session = "answers"
			text = string(wire.Set([]byte(text), []byte(recordedID(id.Raw())), "id"))
		}
		all[session] = append(all[session], text)
	}
	slices.Sort(all["answers"]) // calls may be answered in another order
	slices.Sort(all[""])        // and what belongs to them may come so
	return all
}
