package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/bounded"
)

// A state is what a Tracker keeps between frames, in its stored form.
type state struct {
	Given      Protocol                    `json:"given,omitempty"`
	Connection Connection                  `json:"connection"`
	Settled    bool                        `json:"settled,omitempty"`
	Proven     bool                        `json:"proven,omitempty"`
	Calls      list[callKey, pair]         `json:"calls,omitempty"`
	Turns      list[string, turn]          `json:"turns,omitempty"`
	Servers    list[string, string]        `json:"servers,omitempty"`
	Links      list[string, string]        `json:"links,omitempty"`
	Tokens     list[callKey, string]       `json:"tokens,omitempty"`
	Tasks      list[callKey, string]       `json:"tasksOf,omitempty"`           // "tasks" had no makers
	Failed     list[callOf, bool]          `json:"failedOrCancelled,omitempty"` // "failed" was always true
	Restored   list[string, bool]          `json:"restored,omitempty"`
	Joined     list[string, joined]        `json:"joined,omitempty"`
	Own        list[string, bool]          `json:"own,omitempty"`
	Last       said                        `json:"last,omitzero"`
	Heard      list[string, time.Duration] `json:"heard,omitempty"`
	Running    list[callOf, uint64]        `json:"runningSince,omitempty"` // "running" had no Seq
	Since      time.Duration               `json:"since,omitempty"`
	Ending     *ending                     `json:"ending,omitempty"`
	Header     string                      `json:"header,omitempty"`
}

// A list holds the entries of an ordered map, oldest first.
type list[K comparable, V any] []entry[K, V]

type entry[K comparable, V any] struct {
	Key   K `json:"key"`
	Value V `json:"value"`
}

// MarshalBinary returns the state of t; equal states have equal bytes. Its size depends
// on what is open on the connection, not on what has passed.
func (t *Tracker) MarshalBinary() ([]byte, error) {
	s := state{
		Given:      t.given,
		Connection: t.conn,
		Settled:    t.settled,
		Proven:     t.proven,
		Calls:      entries(&t.calls.Map),
		Turns:      entries(&t.turns),
		Servers:    entries(&t.servers),
		Links:      entries(&t.links),
		Tokens:     entries(&t.tokens),
		Tasks:      entries(&t.tasks),
		Failed:     entries(&t.failed),
		Restored:   entries(&t.restored),
		Joined:     entries(&t.joining.ids),
		Own:        entries(&t.joining.own),
		Last:       t.joining.last,
		Heard:      entries(&t.pace.sessions),
		Running:    entries(&t.pace.tools),
		Since:      t.pace.since,
		Header:     t.header,
	}
	if t.ending.Left || t.ending.Signals != nil {
		s.Ending = &t.ending
	}
	return json.Marshal(s)
}

// UnmarshalBinary replaces the state of t with one that MarshalBinary returned. On error
// t is unchanged.
func (t *Tracker) UnmarshalBinary(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading the state of a connection: %w", err)
	}
	*t = *NewTracker(s.Given)
	t.conn, t.settled, t.proven = s.Connection, s.Settled, s.Proven
	fill(&t.calls, s.Calls)
	fill(&t.turns, s.Turns)
	fill(&t.servers, s.Servers)
	fill(&t.links, s.Links)
	fill(&t.tokens, s.Tokens)
	fill(&t.tasks, s.Tasks)
	fill(&t.failed, s.Failed)
	fill(&t.restored, s.Restored)
	fill(&t.joining.ids, s.Joined)
	fill(&t.joining.own, s.Own)
	t.joining.last = s.Last
	fill(&t.pace.sessions, s.Heard)
	fill(&t.pace.tools, s.Running)
	t.pace.since, t.header = s.Since, s.Header
	if s.Ending != nil {
		t.ending = *s.Ending
	}
	return nil
}

// UnmarshalJSON rejects a list longer than any that a Tracker writes. In a damaged state
// an entry may take as little as three bytes, but fifty times as many in memory.
func (l *list[K, V]) UnmarshalJSON(data []byte) error {
	*l = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return errors.New("no list")
	}
	for dec.More() {
		if len(*l) == maxOpen {
			return fmt.Errorf("a list of more than %d", maxOpen)
		}
		var e entry[K, V]
		if err := dec.Decode(&e); err != nil {
			return err
		}
		*l = append(*l, e)
	}
	return nil
}

func entries[K comparable, V any](m *bounded.Map[K, V]) list[K, V] {
	var l list[K, V]
	for k, v := range m.All() {
		l = append(l, entry[K, V]{k, v})
	}
	return l
}

func fill[K comparable, V any](m interface{ Set(K, V) (V, bool) }, l list[K, V]) {
	for _, e := range l {
		m.Set(e.Key, e.Value)
	}
}
