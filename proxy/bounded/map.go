// Package bounded has a map whose memory is bounded: a connection's state must not grow
// with what its peers send.
package bounded

import "iter"

// A Map is a map of bounded size that remembers the order in which its keys were set;
// when full it forgets the oldest. The zero value with a Limit is ready to use. It is not
// safe for concurrent use.
type Map[K comparable, V any] struct {
	Limit       int // keys; at least 1
	nodes       map[K]*node[K, V]
	first, last *node[K, V]
}

type node[K comparable, V any] struct {
	key        K
	value      V
	prev, next *node[K, V]
}

// Len returns the number of keys.
func (m *Map[K, V]) Len() int { return len(m.nodes) }

// Get returns the value of a key.
func (m *Map[K, V]) Get(key K) (V, bool) {
	if n := m.nodes[key]; n != nil {
		return n.value, true
	}
	var none V
	return none, false
}

// Set makes key the newest entry. If that evicts the oldest, it returns the forgotten
// value.
func (m *Map[K, V]) Set(key K, value V) (forgotten V, full bool) {
	n := m.nodes[key]
	if n == nil {
		if len(m.nodes) >= m.Limit {
			forgotten, full = m.first.value, true
			m.Drop(m.first.key)
		}
		if m.nodes == nil {
			m.nodes = make(map[K]*node[K, V])
		}
		n = &node[K, V]{key: key}
		m.nodes[key] = n
	} else {
		m.unlink(n)
	}
	n.value, n.prev, n.next = value, m.last, nil
	if m.last == nil {
		m.first = n
	} else {
		m.last.next = n
	}
	m.last = n
	return forgotten, full
}

// Drop removes a key, if it is there.
func (m *Map[K, V]) Drop(key K) {
	n := m.nodes[key]
	if n != nil {
		delete(m.nodes, key)
		m.unlink(n)
	}
}

// unlink removes a node from the order.
func (m *Map[K, V]) unlink(n *node[K, V]) {
	if n.prev == nil {
		m.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		m.last = n.prev
	} else {
		n.next.prev = n.prev
	}
}

// Clear removes all keys.
func (m *Map[K, V]) Clear() { *m = Map[K, V]{Limit: m.Limit} }

// Newest yields the entries, newest first.
func (m *Map[K, V]) Newest() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for n := m.last; n != nil; n = n.prev {
			if !yield(n.key, n.value) {
				return
			}
		}
	}
}

// All yields the entries, oldest first.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for n := m.first; n != nil; n = n.next {
			if !yield(n.key, n.value) {
				return
			}
		}
	}
}
