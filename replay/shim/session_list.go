package shim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// pageSize is how many sessions a page of a list has at most. The protocol leaves the size
// to the agent.
const pageSize = 50

// onList handles session/list.
func (s *Shim) onList(m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.env.ID == nil:
		return append(out, m.Frame)
	case !s.passesOn(dialect.ListSessions), s.listed != nil && hasOwnCursor(m):
		return s.serveList(m, out)
	}
	if !m.param("cursor").Exists() {
		s.listed = nil
	}
	cwd := strings.Clone(m.param("cwd").Text())
	return s.forward(m, func(m message, out []wire.Frame) []wire.Frame { return append(out, s.translateList(m, cwd).Frame) }, s.serveList, out)
}

// translateList returns the agent's list with the client's ids of the sessions. If the agent
// lists sessions but cannot open them, the cursor leads to those in the store.
func (s *Shim) translateList(m message, cwd string) message {
	sessions := get(m.env.Result, "sessions")
	if !sessions.IsArray() {
		return m
	}
	opens := s.opensSessions()
	if s.listed == nil && !opens {
		s.listed = &listed{ids: map[string]bool{}}
	}
	list := []byte(sessions.Raw())
	var translated []byte
	done := 0
	for _, at := range wire.Find(list, "#.sessionId") {
		id := wire.ValueOf(list[at.Start:at.End]).Text()
		if c := s.byAgentID[id]; c != nil && c.clientID != c.agentID {
			translated = append(append(translated, list[done:at.Start]...), c.clientJSON...)
			done, id = at.End, c.clientID
		}
		if !opens {
			s.listed.add(id)
		}
	}
	if done > 0 {
		m = m.patched("result.sessions", append(translated, list[done:]...))
	}
	if opens || !get(m.env.Result, "nextCursor").IsNull() {
		return m
	}
	return m.patched("result.nextCursor", cursor{Filter: filterHash(cwd)}.json())
}

// listed is the set of session ids on the pages of the agent's list that the client has.
type listed struct {
	ids  map[string]bool
	size int // bytes
}

// maxListed limits the bytes of the ids that are remembered. Sessions that the agent lists
// beyond that may be listed again from the store.
const maxListed = 4 << 20

func (l *listed) add(id string) {
	if cost := len(id) + frameCost; !l.ids[id] && l.size+cost <= maxListed {
		l.ids[strings.Clone(id)] = true
		l.size += cost
	}
}

// serveList answers session/list from the store.
func (s *Shim) serveList(m message, out []wire.Frame) []wire.Frame {
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	var except map[string]bool
	if s.listed != nil {
		except = maps.Clone(s.listed.ids)
	}
	s.serve(m, func(r *servedRequest) error {
		page, err := r.page(except)
		if err != nil {
			return err
		}
		return r.do(func(out []wire.Frame) []wire.Frame { return append(out, r.reply(page)) })
	})
	return out
}

// page makes the result of session/list. It has the sessions with at least one prompt, the
// most recently used first, except those that the agent has listed.
func (r *servedRequest) page(except map[string]bool) ([]byte, error) {
	s := r.shim
	dir := r.message.param("cwd")
	if r.params.Exists() && !r.params.IsObject() || !dir.IsNull() && !dir.IsString() {
		return nil, fault{wire.InvalidParams, "cwd is not a string", nil}
	}
	cwd := dir.Text()
	after := cursor{Filter: filterHash(cwd)}
	if given := r.message.param("cursor"); !given.IsNull() {
		c, err := parseCursor(given.Text())
		if err != nil || c.Filter != after.Filter {
			return nil, fault{wire.InvalidParams, "cursor is not one of this list", nil}
		}
		after = c
	}
	v, err := s.view()
	if err != nil {
		return nil, err
	}
	sessions := slices.DeleteFunc(slices.Collect(maps.Values(v.offered)), func(one record.SessionInfo) bool {
		_, _, turns := one.Total()
		return turns == 0 || except[one.ID] || cwd != "" && !sameDir(one.Cwd, cwd) || s.hasGap(one, v.listing)
	})
	slices.SortFunc(sessions, func(a, b record.SessionInfo) int { return order(a.Updated(), a.ID, b.Updated(), b.ID) })
	if after.ID != "" {
		sessions = slices.DeleteFunc(sessions, func(one record.SessionInfo) bool {
			return order(one.Updated(), one.ID, after.updated(), after.ID) <= 0
		})
	}
	next := []byte(nil)
	if len(sessions) > pageSize {
		sessions = sessions[:pageSize]
		last := sessions[pageSize-1]
		at := last.Updated()
		next = cursor{at.Unix(), at.Nanosecond(), last.ID, after.Filter}.json()
	}
	items := make([]json.RawMessage, len(sessions))
	for i, one := range sessions {
		items[i] = s.listItem(one, v.listing)
	}
	return members(nil).add("sessions", array(items)).add("nextCursor", next).object(), nil
}

// order compares two sessions for a list, the most recently used first.
func order(a time.Time, aID string, b time.Time, bID string) int {
	return cmp.Or(b.Compare(a), strings.Compare(aID, bID))
}

// listItem makes one session of a list.
func (s *Shim) listItem(one record.SessionInfo, l record.Listing) json.RawMessage {
	_, _, turns := one.Total()
	meta := members(nil).add("epochs", fmt.Append(nil, len(one.Runs))).add("turns", fmt.Append(nil, turns))
	title := one.Topic()
	if one.Agent != s.Agent {
		meta = meta.text("agent", one.Agent)
		title += " · " + s.agentName(one, l)
	}
	return members(nil).text("sessionId", one.ID).add("cwd", wire.Quote(one.Cwd)).text("title", title).
		text("updatedAt", one.Updated().UTC().Format(time.RFC3339)).
		add("_meta", members(nil).add("acptap", meta.object()).object()).object()
}
