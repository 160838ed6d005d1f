package shim

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// pageSize is how many sessions a page of a list has. The protocol leaves that
// to the agent.
const pageSize = 50

// list takes session/list.
func (s *Shim) list(m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.env.ID == nil:
		return append(out, m.Frame)
	case s.native("session/list"):
		return s.forward(m, s.named, s.serveList, out)
	}
	return s.serveList(m, out)
}

// named takes the agent's list, in which the client finds the sessions under the
// names that it knows.
func (s *Shim) named(m message, out []wire.Frame) []wire.Frame {
	for i, one := range gjson.GetBytes(m.env.Result, "sessions.#.sessionId").Array() {
		if c := s.byAgent[one.Str]; c != nil && c.client != c.agent {
			m = m.patched(fmt.Sprintf("result.sessions.%d.sessionId", i), c.clientJSON)
		}
	}
	return append(out, m.Frame)
}

// serveList answers session/list from the store.
func (s *Shim) serveList(m message, out []wire.Frame) []wire.Frame {
	s.serve(m, func(v *serving) error {
		page, err := v.page()
		if err != nil {
			return err
		}
		return v.act(func(out []wire.Frame) []wire.Frame { return append(out, v.reply(page)) })
	})
	return out
}

// A cursor is where a page of a list ends, and the hash of what the list is
// filtered by.
type cursor struct {
	Updated time.Time `json:"u"`
	ID      string    `json:"i"`
	Filter  uint32    `json:"f"`
}

// page makes the result of a session/list: sessions with at least one prompt,
// the one used last first.
func (v *serving) page() ([]byte, error) {
	cwd := v.params.Get("cwd").Str
	h := fnv.New32a()
	h.Write([]byte(cwd))
	after := cursor{Filter: h.Sum32()}
	if given := v.params.Get("cursor"); given.Type != gjson.Null {
		var c cursor
		text, err := base64.RawURLEncoding.DecodeString(given.Str)
		if err != nil || json.Unmarshal(text, &c) != nil || c.Filter != after.Filter || c.ID == "" {
			return nil, fault{invalidParams, "cursor is not one of this list", nil}
		}
		after = c
	}
	l, err := v.Store.List()
	if err != nil {
		return nil, fault{internalError, "the store cannot be read: " + err.Error(), nil}
	}
	sessions := slices.DeleteFunc(l.Sessions, func(one record.SessionInfo) bool {
		_, _, turns := one.Total()
		return !v.offers(one) || turns == 0 || cwd != "" && !sameDir(one.Cwd, cwd)
	})
	slices.SortFunc(sessions, func(a, b record.SessionInfo) int { return order(a.Updated(), a.ID, b.Updated(), b.ID) })
	if after.ID != "" {
		sessions = slices.DeleteFunc(sessions, func(one record.SessionInfo) bool {
			return order(one.Updated(), one.ID, after.Updated, after.ID) <= 0
		})
	}
	next := []byte(nil)
	if len(sessions) > pageSize {
		sessions = sessions[:pageSize]
		last := sessions[pageSize-1]
		text, err := json.Marshal(cursor{last.Updated(), last.ID, after.Filter})
		if err != nil {
			return nil, err
		}
		next = quote(base64.RawURLEncoding.EncodeToString(text))
	}
	items := make([]json.RawMessage, len(sessions))
	for i, one := range sessions {
		items[i] = v.item(one)
	}
	return members(nil).add("sessions", array(items)).add("nextCursor", next).object(), nil
}

// order is that of a list: the latest first.
func order(a time.Time, aID string, b time.Time, bID string) int {
	return cmp.Or(b.Compare(a), strings.Compare(aID, bID))
}

// item makes one session of a list.
func (v *serving) item(one record.SessionInfo) json.RawMessage {
	_, _, turns := one.Total()
	about := members(nil).add("epochs", fmt.Append(nil, len(one.Runs))).add("turns", fmt.Append(nil, turns))
	title := cmp.Or(one.Title, one.Prompt)
	if one.Agent != v.Agent {
		about = about.text("agent", one.Agent)
		title += " · " + one.Agent
	}
	return members(nil).text("sessionId", one.ID).add("cwd", quote(one.Cwd)).text("title", title).
		text("updatedAt", one.Updated().UTC().Format(time.RFC3339)).
		add("_meta", members(nil).add("acptap", about.object()).object()).object()
}
