package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A state is what a Tracker keeps between frames, as it is stored.
type state struct {
	Given      Protocol              `json:"given,omitempty"`
	Connection Connection            `json:"connection"`
	Settled    bool                  `json:"settled,omitempty"`
	Proven     bool                  `json:"proven,omitempty"`
	Calls      list[callKey, pair]   `json:"calls,omitempty"`
	Turns      list[string, turn]    `json:"turns,omitempty"`
	Servers    list[string, string]  `json:"servers,omitempty"`
	Links      list[string, string]  `json:"links,omitempty"`
	Tokens     list[callKey, string] `json:"tokens,omitempty"`
	Tasks      list[callKey, string] `json:"tasksOf,omitempty"` // "tasks" was without their makers
	Failed     list[callOf, bool]    `json:"failed,omitempty"`
	Restored   list[string, bool]    `json:"restored,omitempty"`
	Clock      clock                 `json:"clock,omitzero"`
	Ending     *ending               `json:"ending,omitempty"`
}

// A list is what an ordered map holds, the oldest first.
type list[K comparable, V any] []entry[K, V]

type entry[K comparable, V any] struct {
	Key   K `json:"key"`
	Value V `json:"value"`
}

// MarshalBinary returns the state of t; equal states give equal bytes. It grows
// with what is open on the connection, not with what has passed.
func (t *Tracker) MarshalBinary() ([]byte, error) {
	s := state{
		Given:      t.given,
		Connection: t.conn,
		Settled:    t.settled,
		Proven:     t.proven,
		Calls:      t.calls.entries(),
		Turns:      t.turns.entries(),
		Servers:    t.servers.entries(),
		Links:      t.links.entries(),
		Tokens:     t.tokens.entries(),
		Tasks:      t.tasks.entries(),
		Failed:     t.failed.entries(),
		Restored:   t.restored.entries(),
		Clock:      t.clock,
	}
	if t.ending.Left || t.ending.Signals != nil {
		s.Ending = &t.ending
	}
	return json.Marshal(s)
}

// UnmarshalBinary makes t go on as the Tracker did whose state data is. What t
// knew before is forgotten. After an error t is as it was.
func (t *Tracker) UnmarshalBinary(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading the state of a connection: %w", err)
	}
	*t = *NewTracker(s.Given)
	t.conn, t.settled, t.proven = s.Connection, s.Settled, s.Proven
	t.calls.fill(s.Calls)
	t.turns.fill(s.Turns)
	t.servers.fill(s.Servers)
	t.links.fill(s.Links)
	t.tokens.fill(s.Tokens)
	t.tasks.fill(s.Tasks)
	t.failed.fill(s.Failed)
	t.restored.fill(s.Restored)
	t.clock = s.Clock
	if s.Ending != nil {
		t.ending = *s.Ending
	}
	return nil
}

// UnmarshalJSON refuses a list that is longer than any that a Tracker writes. An
// entry takes three bytes of a damaged state, and fifty times as many in memory.
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

func (o *ordered[K, V]) entries() list[K, V] {
	var l list[K, V]
	for k, v := range o.all() {
		l = append(l, entry[K, V]{k, v})
	}
	return l
}

func (o *ordered[K, V]) fill(l list[K, V]) {
	for _, e := range l {
		o.set(e.Key, e.Value)
	}
}
