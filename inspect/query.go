package inspect

import (
	"fmt"
	"slices"

	"github.com/acptap/acptap/inspect/filter"
)

// askFilter asks for a filter. What could be typed is shown on the line below.
func (a *app) askFilter() {
	a.ask("filter: ", a.Filter, a.setFilter)
	a.prompt.complete = func(text string) []filter.Candidate { return filter.Complete(text, len(text), a.values) }
	a.prompt.past = a.before
}

// values returns the values of a key that are on the screen's tape.
func (a *app) values(key string) []string {
	var list []string
	for _, r := range a.book.rows {
		f := &r.frame
		var v string
		switch key {
		case "method":
			v = f.Method
		case "update":
			v = f.Update
		case "session":
			v = f.Session
		}
		if v != "" && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// clearFilter shows all frames.
func (a *app) clearFilter() {
	if a.Filter != "" {
		a.fail(a.setFilter(""))
	}
}

// earlierFilter goes back to the filter before.
func (a *app) earlierFilter() {
	n := len(a.before)
	if n == 0 {
		a.say("there was no other filter")
		return
	}
	query := a.before[n-1]
	if err := a.setFilter(query); err != nil {
		a.fail(err)
		return
	}
	a.before = a.before[:n-1] // without the one that was left just now, too
}

// only shows the frames that have a value, or those that do not have it.
func (a *app) only(key, value string, exclude bool) {
	if value == "" {
		a.say("this frame has no " + key)
		return
	}
	query, err := filter.Add(a.Filter, key, value, exclude)
	if err != nil {
		a.fail(err)
		return
	}
	a.fail(a.setFilter(query))
}

// onlyThis takes the value under the cursor into the filter: in the list that is
// the method or the variant of an update.
func (a *app) onlyThis(exclude bool) {
	f := &a.pane.frame
	if a.inPane && a.pane.tree != nil && a.pane.form == asTree {
		n := a.pane.node()
		if a.pane.tree.holds(n) {
			a.say("choose a single value")
			return
		}
		a.only(filter.PathKey(a.pane.tree.path(n)), a.pane.tree.text(n), exclude)
		return
	}
	if f.Update != "" {
		a.only("update", f.Update, exclude)
		return
	}
	a.only("method", f.Method, exclude)
}

// onlyTurn shows the frames of one turn of one session.
func (a *app) onlyTurn() {
	if err := a.tell(); err != nil {
		a.fail(err)
		return
	}
	a.story.mu.Lock()
	defer a.story.mu.Unlock()
	session := a.story.session(a.pane.frame.Session)
	if session == nil || session.ID != a.pane.frame.Session {
		a.say("this frame belongs to no turn, or the tape is still being read")
		return
	}
	for _, t := range session.Conversation.Turns {
		if seq := a.pane.frame.Seq; t.First <= seq && (seq <= t.Last || t.Open()) {
			a.only("session", session.ID, false)
			a.only("turn", fmt.Sprint(t.Number), false)
			return
		}
	}
	a.say("this frame belongs to no turn")
}
