package model

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A server is the model of one process.
type server struct {
	model *Model
	home  string
	url   string
	env   []string
	http  *http.Server
	done  chan struct{} // closed when it has ended

	mu        sync.Mutex
	turns     [][]string
	answers   int
	asked     bool
	elsewhere []string // what it asked for that is not of a model, or not here
	lacks     string
}

// Say implements probe.Speaker.
func (s *server) Say(turns [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
}

// Lacks implements probe.Speaker.
func (s *server) Lacks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks
}

// Unasked implements probe.Speaker.
func (s *server) Unasked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.asked:
		return ""
	case len(s.elsewhere) > 0:
		return "it did not ask the scripted model, but " + strings.Join(s.elsewhere, ", ")
	}
	return "it did not ask the scripted model"
}

// maxBody limits a request.
const maxBody = 32 << 20

// ServeHTTP answers an agent.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.IsAbs() {
		s.pass(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/models") || strings.Contains(r.URL.Path, "/models/") && r.Method == http.MethodGet {
		write(w, http.StatusOK, parts()["models"])
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	q, ok := ask(r, body)
	switch {
	case !ok:
		s.refuse(r.URL.Path)
		http.NotFound(w, r)
	case q.tokens:
		write(w, http.StatusOK, parts()[q.api+" tokens"])
	default:
		a := s.answer(q)
		a.send(w, r)
	}
}

// refuse notes what is not answered.
func (s *server) refuse(what string) {
	const most = 3
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.elsewhere) < most && !slices.Contains(s.elsewhere, what) {
		s.elsewhere = append(s.elsewhere, what)
	}
}

// answer takes what is next to say. What an agent asks besides the turn, such as a title for
// the session, takes nothing.
func (s *server) answer(q question) *answer {
	offers := s.model.offers(q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
	s.answers++
	a := &answer{question: q, number: s.answers, pieces: []string{"ok"}}
	switch {
	case q.schema.Exists():
		a.pieces = []string{string(wire.Encode(instance(q.schema, 0)))}
		return a
	case q.forced && len(q.tools) > 0:
		a.call = &call{q.tools[0], string(wire.Encode(instance(q.tools[0].schema, 0)))}
		return a
	case !offers || len(s.turns) == 0:
		return a
	}
	turn := s.turns[0]
	if turn[0] != "fail" { // which holds however often the agent tries again
		s.turns = s.turns[1:]
	}
	if why := a.take(turn); why != "" {
		s.lacks = why
	}
	return a
}

// offers reports whether a question is for the turn.
func (m *Model) offers(q question) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = m.tools || len(q.tools) > 0
	return len(q.tools) > 0 || !m.tools
}

// take makes a turn of a script the answer. It returns why that is not possible.
func (a *answer) take(turn []string) (lacks string) {
	rest := strings.Join(turn[1:], " ")
	switch turn[0] {
	case "text":
		a.pieces = []string{rest}
	case "slow":
		n, _ := strconv.Atoi(rest)
		a.pieces, a.tick = nil, 200*time.Millisecond
		for i := range n {
			a.pieces = append(a.pieces, fmt.Sprintf("%d ", i+1))
		}
	case "fail":
		if a.status, _ = strconv.Atoi(rest); a.status < 400 || a.status > 599 {
			a.status = http.StatusInternalServerError
		}
	case "call":
		what, argument, _ := strings.Cut(rest, " ")
		c, ok := choose(a.tools, what, argument)
		if !ok {
			return fmt.Sprintf("it offers the model no tool for %s (%s)", what, names(a.tools))
		}
		a.call = &c
	}
	return ""
}

// names lists a few tools.
func names(tools []tool) string {
	const most = 12
	var list []string
	for _, t := range tools {
		if list = append(list, t.name); len(list) == most {
			list = append(list, "…")
			break
		}
	}
	return strings.Join(list, ", ")
}
