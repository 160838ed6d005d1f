package model

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/wire"
)

//go:embed answers.txt
var answersText []byte

// parts holds the templates of the answers by section name.
var parts = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, f := range txtar.Parse(answersText).Files {
		all[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
	}
	return all
})

// An answer is the model's reply to a question: pieces of text with a pause before each, a
// tool call, or an error.
type answer struct {
	question
	number int
	pieces []string
	tick   time.Duration
	call   *call
	status int // of an error; 0: no error
	events int
}

// send writes the answer in the format of the request's API.
func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	switch {
	case a.status != 0:
		part := fmt.Sprintf("%s error %d", a.api, a.status)
		if parts()[part] == "" {
			part = a.api + " error"
		}
		w.Header().Set("X-Should-Retry", "false") // otherwise Claude Code retries for minutes
		write(w, a.status, a.filled(parts()[part], ""))
	case a.stream:
		w.Header().Set("Content-Type", "text/event-stream")
		a.streamTo(w, r)
	default:
		for range a.pieces {
			if !a.wait(r) {
				return
			}
		}
		part := " text whole"
		if a.call != nil {
			part = " call whole"
		}
		write(w, http.StatusOK, a.filled(parts()[a.api+part], ""))
	}
}

func write(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintln(w, body)
}

// wait waits for a tick. It returns false if the agent has gone.
func (a *answer) wait(r *http.Request) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(a.tick):
		return true
	}
}

// streamTo writes the answer as server-sent events.
func (a *answer) streamTo(w http.ResponseWriter, r *http.Request) {
	if a.call != nil {
		a.event(w, " call", "")
		return
	}
	a.event(w, " text begin", "")
	for _, text := range a.pieces {
		if !a.wait(r) {
			return
		}
		a.event(w, " text piece", text)
	}
	a.event(w, " text end", "")
}

// event writes the events of one part of the stream.
func (a *answer) event(w http.ResponseWriter, part, text string) {
	for line := range strings.Lines(parts()[a.api+part]) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "event "); ok {
			fmt.Fprintf(w, "event: %s\n", name)
			continue
		}
		fmt.Fprintf(w, "data: %s\n\n", a.filled(line, text))
		a.events++
	}
	_ = http.NewResponseController(w).Flush() // fails if the agent has gone
}

// filled returns a part of the template with the values of this answer.
func (a *answer) filled(part, text string) string {
	var name, args, space string
	if a.call != nil {
		name, args = a.call.name, a.call.args
		if a.call.space != "" {
			space = `,"namespace":` + quote(a.call.space)
		}
	}
	return strings.NewReplacer(
		"${text}", quote(text), "${all}", quote(strings.Join(a.pieces, "")), "${model}", quote(a.model),
		"${name}", quote(name), "${space}", space, "${args}", args, "${argsText}", quote(args),
		"${status}", strconv.Itoa(a.status), "${message}", quote(fmt.Sprintf("acptap's scripted model fails with %d", a.status)),
		"${seq}", strconv.Itoa(a.events), "${n}", strconv.Itoa(a.number),
	).Replace(part)
}

func quote(text string) string { return string(wire.Quote(text)) }
