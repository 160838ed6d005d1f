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

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// pageSize is how many sessions a page of a list has at most. The protocol leaves that to
// the agent.
const pageSize = 50

// list handles session/list.
func (s *Shim) list(m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.env.ID == nil:
		return append(out, m.Frame)
	case !s.native("session/list"), s.listed != nil && ownCursor(m):
		return s.serveList(m, out)
	}
	if !m.param("cursor").Exists() {
		s.listed = nil
	}
	cwd := strings.Clone(m.param("cwd").Text())
	return s.forward(m, func(m message, out []wire.Frame) []wire.Frame { return append(out, s.named(m, cwd).Frame) }, s.serveList, out)
}

// ownCursor reports whether a request continues a list with sessions from the store.
func ownCursor(m message) bool {
	_, err := parseCursor(m.param("cursor").Text())
	return err == nil
}

// named returns the agent's list with the ids by which the client knows the sessions. If
// the agent lists sessions but cannot open them, those in the store follow on the next
// page.
func (s *Shim) named(m message, cwd string) message {
	sessions := get(m.env.Result, "sessions")
	if !sessions.IsArray() {
		return m
	}
	opens := s.opens()
	if s.listed == nil && !opens {
		s.listed = &listed{ids: map[string]bool{}}
	}
	var names []byte
	done := 0
	list := []byte(sessions.Raw())
	for _, at := range wire.Find(list, "#.sessionId") {
		id := wire.ValueOf(list[at.Start:at.End]).Text()
		if c := s.byAgent[id]; c != nil && c.client != c.agent {
			names, done, id = append(append(names, list[done:at.Start]...), c.clientJSON...), at.End, c.client
		}
		if !opens {
			s.listed.add(id)
		}
	}
	if done > 0 {
		m = m.patched("result.sessions", append(names, list[done:]...))
	}
	if opens || !get(m.env.Result, "nextCursor").IsNull() {
		return m
	}
	return m.patched("result.nextCursor", cursor{Filter: filterHash(cwd)}.json())
}

// A listed has the ids of the sessions that the agent has listed.
type listed struct {
	ids  map[string]bool
	size int // bytes
}

// maxListed is how many bytes of ids are remembered. Sessions that the agent lists beyond
// that may be listed again from the store.
const maxListed = 4 << 20

func (l *listed) add(id string) {
	if cost := len(id) + frameCost; !l.ids[id] && l.size+cost <= maxListed {
		l.ids[strings.Clone(id)] = true
		l.size += cost
	}
}

// all returns a copy of the ids.
func (l *listed) all() map[string]bool {
	if l == nil {
		return nil
	}
	return maps.Clone(l.ids)
}

// serveList answers session/list from the store.
func (s *Shim) serveList(m message, out []wire.Frame) []wire.Frame {
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	listed := s.listed.all()
	s.serve(m, func(v *servedRequest) error {
		page, err := v.page(listed)
		if err != nil {
			return err
		}
		return v.act(func(out []wire.Frame) []wire.Frame { return append(out, v.reply(page)) })
	})
	return out
}

// A cursor says which session ends a page of a list from the store, and has a hash of the
// directory by which the list is filtered. Without an ID, it is the beginning of the
// list.
type cursor struct {
	Seconds int64  `json:"s"` // time of the session's last frame, since 1970
	Nanos   int    `json:"n"`
	ID      string `json:"i"`
	Filter  uint32 `json:"f"`
}

// updated returns the time of the last frame of the session that ended the page.
func (c cursor) updated() time.Time { return time.Unix(c.Seconds, int64(c.Nanos)) }

// cursorPrefix distinguishes our cursors from the agent's.
const cursorPrefix = "acptap:"

func filterHash(cwd string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(cwd))
	return h.Sum32()
}

// json returns the cursor as the client gets it.
func (c cursor) json() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("shim: " + err.Error()) // numbers and text
	}
	return quote(cursorPrefix + base64.RawURLEncoding.EncodeToString(text))
}

// parseCursor parses a cursor that json has made.
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

// page makes the result of session/list: the sessions with at least one prompt, the most
// recently used first, without those that the agent has listed.
func (v *servedRequest) page(listed map[string]bool) ([]byte, error) {
	dir := v.request.param("cwd")
	if v.params.Exists() && !v.params.IsObject() || !dir.IsNull() && !dir.IsString() {
		return nil, fault{rpc.InvalidParams, "cwd is not a string", nil}
	}
	cwd := dir.Text()
	after := cursor{Filter: filterHash(cwd)}
	if given := v.request.param("cursor"); !given.IsNull() {
		c, err := parseCursor(given.Text())
		if err != nil || c.Filter != after.Filter {
			return nil, fault{rpc.InvalidParams, "cursor is not one of this list", nil}
		}
		after = c
	}
	there, err := v.view()
	if err != nil {
		return nil, err
	}
	sessions := slices.DeleteFunc(slices.Collect(maps.Values(there.offered)), func(one record.SessionInfo) bool {
		_, _, turns := one.Total()
		return turns == 0 || listed[one.ID] || cwd != "" && !sameDir(one.Cwd, cwd) || v.hasGap(one, there.Listing)
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
		items[i] = v.item(one, there.Listing)
	}
	return members(nil).add("sessions", array(items)).add("nextCursor", next).object(), nil
}

// order compares two sessions for a list, the most recently used first.
func order(a time.Time, aID string, b time.Time, bID string) int {
	return cmp.Or(b.Compare(a), strings.Compare(aID, bID))
}

// item makes one session of a list.
func (v *servedRequest) item(one record.SessionInfo, l record.Listing) json.RawMessage {
	_, _, turns := one.Total()
	meta := members(nil).add("epochs", fmt.Append(nil, len(one.Runs))).add("turns", fmt.Append(nil, turns))
	title := one.Topic()
	if one.Agent != v.Agent {
		meta = meta.text("agent", one.Agent)
		title += " · " + v.agentOf(one, l)
	}
	return members(nil).text("sessionId", one.ID).add("cwd", quote(one.Cwd)).text("title", title).
		text("updatedAt", one.Updated().UTC().Format(time.RFC3339)).
		add("_meta", members(nil).add("acptap", meta.object()).object()).object()
}
