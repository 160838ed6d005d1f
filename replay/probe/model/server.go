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

// A server is the model for one process.
type server struct {
	model *Model
	home  string
	url   string
	env   []string
	http  *http.Server
	done  chan struct{} // closed when the server has stopped

	mu        sync.Mutex
	turns     [][]string
	answers   int
	asked     bool
	elsewhere []string // requests that were refused: to no model API, or to other machines
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

// maxBody limits the size of a request.
const maxBody = 32 << 20

// ServeHTTP answers requests of the agent.
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

// refuse records a refused request.
func (s *server) refuse(what string) {
	const most = 3
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.elsewhere) < most && !slices.Contains(s.elsewhere, what) {
		s.elsewhere = append(s.elsewhere, what)
	}
}

// answer returns the next scripted answer. Questions outside the turn, such as for a title of
// the session, do not use it up.
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
	if turn[0] != "fail" { // a failure persists however often the agent retries
		s.turns = s.turns[1:]
	}
	if why := a.take(turn); why != "" {
		s.lacks = why
	}
	return a
}

// offers reports whether a question belongs to the turn.
func (m *Model) offers(q question) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = m.tools || len(q.tools) > 0
	return len(q.tools) > 0 || !m.tools
}

// take turns the words of a script into the answer. It returns why that is not possible, or
// "".
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

// names returns a short list of tool names.
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
