package dialect

import (
	"encoding/json"
	"fmt"
)

// A state is what a Tracker keeps between frames, as it is stored.
type state struct {
	Given      Protocol                 `json:"given,omitempty"`
	Connection Connection               `json:"connection"`
	Settled    bool                     `json:"settled,omitempty"`
	Proven     bool                     `json:"proven,omitempty"`
	Calls      []entry[callKey, pair]   `json:"calls,omitempty"`
	Turns      []entry[string, turn]    `json:"turns,omitempty"`
	Servers    []entry[string, string]  `json:"servers,omitempty"`
	Links      []entry[string, string]  `json:"links,omitempty"`
	Tokens     []entry[callKey, string] `json:"tokens,omitempty"`
	Tasks      []entry[callKey, string] `json:"tasksOf,omitempty"` // "tasks" was without their makers
}

type entry[K comparable, V any] struct {
	Key   K `json:"key"`
	Value V `json:"value"`
}

// MarshalBinary returns the state of t; equal states give equal bytes. It grows
// with what is open on the connection, not with what has passed.
func (t *Tracker) MarshalBinary() ([]byte, error) {
	return json.Marshal(state{
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
	})
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
	return nil
}

func (o *ordered[K, V]) entries() []entry[K, V] {
	var list []entry[K, V]
	for k, v := range o.all() {
		list = append(list, entry[K, V]{k, v})
	}
	return list
}

func (o *ordered[K, V]) fill(list []entry[K, V]) {
	for _, e := range list {
		o.set(e.Key, e.Value)
	}
}
