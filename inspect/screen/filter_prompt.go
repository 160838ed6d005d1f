package screen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
)

// askQuery asks for a filter query. The line below shows completions.
func (a *app) askQuery(label, text string, done func(string) error) {
	a.ask(label, text, func(text string) error {
		if err := done(text); err != nil {
			return err
		}
		a.history.Add(text)
		return nil
	})
	a.prompt.complete = func(text string) []filter.Candidate { return filter.Complete(text, a.values) }
	a.prompt.past = a.history.Lines()
	a.prompt.line = len(a.history.Lines())
}

// filterBy changes the filter and remembers the previous one.
func (a *app) filterBy(text string) error {
	before := a.query
	if err := a.setFilter(text); err != nil {
		return err
	}
	if before != text {
		a.earlier = append(a.earlier, before)
	}
	a.returnTo = noPlace
	return nil
}

// leaveList shows all frames. If they are already shown, it goes back to where the tape
// was opened.
func (a *app) leaveList() {
	switch {
	case a.seekedTo != "":
		a.endSeek()
	case a.returnTo != noPlace:
		a.visit(a.returnTo)
	case a.query != "":
		a.fail(a.filterBy(""))
	case len(a.cameFrom) > 0:
		a.leaveServer()
	case a.Store != nil:
		a.visit(a.openedFrom)
	}
}

// earlierFilter returns to the previous filter.
func (a *app) earlierFilter() {
	n := len(a.earlier)
	if n == 0 {
		a.notify("there was no other filter")
		return
	}
	if err := a.setFilter(a.earlier[n-1]); err != nil {
		a.fail(err)
		return
	}
	a.earlier = a.earlier[:n-1]
}

// only shows the frames that have a value, or those that do not.
func (a *app) only(key, value string, exclude bool) {
	if value == "" {
		a.notify("this frame has no " + key)
		return
	}
	query, err := filter.Add(a.query, key, value, exclude)
	if err != nil {
		a.fail(err)
		return
	}
	a.fail(a.filterBy(query))
}

// onlyThis adds the value under the cursor to the filter. In the list, that is the method
// or update variant.
func (a *app) onlyThis(exclude bool) {
	f := &a.pane.Frame
	if v, ok := a.pane.Value(); ok && a.inPane && a.pane.Folds() {
		if !v.Single {
			a.notify("choose a single value")
			return
		}
		a.only(filter.PathKey(v.Path), v.Text, exclude)
		return
	}
	if f.Update != "" {
		a.only("update", f.Update, exclude)
		return
	}
	a.only("method", f.Method, exclude)
}

// onlySession shows the frames of one session. For a server's frame without one, that is
// the agent's session for which the server was started.
func (a *app) onlySession() {
	f := &a.pane.Frame
	a.only("session", cmp.Or(f.Session, a.timeline.SessionOf(a.timeline.PartOf(f.Seq))), false)
}

// onlyTurn shows the frames of one turn in one session.
func (a *app) onlyTurn() {
	f, c, r, start := a.pane.Frame, a.snapshot.Columns, a.timeline, a.model.start
	if f.Seq <= nearby {
		a.showTurn(f.Session, frameindex.TurnOf(&f, c, r, start, frameindex.Progress{}))
		return
	}
	a.inBackground(func(on frameindex.Progress) func() {
		turn := frameindex.TurnOf(&f, c, r, start, on)
		return func() { a.showTurn(f.Session, turn) }
	})
}

func (a *app) showTurn(session string, turn int) {
	if turn == 0 {
		a.notify("this frame belongs to no turn")
		return
	}
	query, err := filter.Add(a.query, "session", session, false)
	if err == nil {
		query, err = filter.Add(query, "turn", strconv.Itoa(turn), false)
	}
	if err == nil {
		err = a.filterBy(query)
	}
	a.fail(err)
}

// values returns a key's values on the tapes. For one path or for all paths, it returns
// those in the selected frame.
func (a *app) values(key string) []string {
	seen := map[string]bool{"": true}
	var list []string
	add := func(v string) {
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	switch key {
	case "method":
		for a := range a.snapshot.Annotations() {
			add(a.Method)
		}
	case "update":
		for a := range a.snapshot.Annotations() {
			add(a.Update)
		}
	case "session":
		for a := range a.snapshot.Annotations() {
			add(a.Session)
		}
	case "rule":
		for _, id := range a.found.Rules() {
			add(id)
		}
	case ".":
		return a.pane.Paths() // in frame order
	default:
		if path := strings.Trim(strings.TrimPrefix(key, "."), "`"); path != key {
			add(a.pane.ValueAt(path))
		}
	}
	slices.Sort(list)
	return list
}
