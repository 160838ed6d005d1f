package shim

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// pageSize limits the sessions on one page of a list. The protocol leaves the size to the
// agent.
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
	cwd := m.param("cwd").Text()
	return s.forward(m, func(m message, out []wire.Frame) []wire.Frame { return append(out, s.translateList(m, cwd).Frame) }, s.serveList, out)
}

// translateList returns the agent's list with the client's session ids. If the agent
// lists sessions but cannot open them, the cursor leads to those in the store.
func (s *Shim) translateList(m message, cwd string) message {
	sessions := m.env.Result.Get("sessions")
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
			translated = append(append(translated, list[done:at.Start]...), wire.Quote(c.clientID)...)
			done, id = at.End, c.clientID
		}
		if !opens {
			s.listed.add(id)
		}
	}
	if done > 0 {
		m = m.patched("result.sessions", append(translated, list[done:]...))
	}
	if opens || !m.env.Result.Get("nextCursor").IsNull() {
		return m
	}
	return m.patched("result.nextCursor", cursor{Filter: filterHash(cwd)}.json())
}

// listed is the set of session ids already returned on the agent's pages.
type listed struct {
	ids  map[string]bool
	size int // bytes
}

// maxListed limits the bytes of remembered ids. Beyond that, sessions that the agent
// listed may be listed again from the store.
const maxListed = 4 << 20

func (l *listed) add(id string) {
	if cost := len(id) + frameCost; !l.ids[id] && l.size+cost <= maxListed {
		l.ids[id] = true
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

// page makes the result of session/list. It has the sessions with one or more prompts,
// most recently used first, except those that the agent has listed.
func (r *servedRequest) page(except map[string]bool) ([]byte, error) {
	s := r.shim
	params, dir := r.message.env.Params.Value(), r.message.param("cwd")
	if params.Exists() && !params.IsObject() || !dir.IsNull() && !dir.IsString() {
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

// order compares two sessions for a list, most recently used first.
func order(a time.Time, aID string, b time.Time, bID string) int {
	return cmp.Or(b.Compare(a), strings.Compare(aID, bID))
}

// listItem makes one entry of a session list.
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

// A cursor names the last session on a page of a list from the store, and has a hash of
// the directory that filters the list. Without an ID it is the beginning of the list.
type cursor struct {
	Seconds int64  `json:"s"` // time of the session's last frame, Unix seconds
	Nanos   int    `json:"n"`
	ID      string `json:"i"`
	Filter  uint32 `json:"f"`
}

// updated returns the time of the session's last frame.
func (c cursor) updated() time.Time { return time.Unix(c.Seconds, int64(c.Nanos)) }

// cursorPrefix distinguishes the shim's cursors from the agent's.
const cursorPrefix = "acptap:"

func filterHash(cwd string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(cwd))
	return h.Sum32()
}

// json returns the cursor as a JSON string for the client.
func (c cursor) json() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("shim: " + err.Error()) // numbers and text
	}
	return wire.Quote(cursorPrefix + base64.RawURLEncoding.EncodeToString(text))
}

// parseCursor parses a cursor made by json.
func parseCursor(text string) (c cursor, err error) {
	text, own := strings.CutPrefix(text, cursorPrefix)
	if !own {
		return c, errors.New("not a cursor of acptap")
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// hasOwnCursor reports whether a session/list continues a list from the store.
func hasOwnCursor(m message) bool {
	_, err := parseCursor(m.param("cursor").Text())
	return err == nil
}
