package dialect

import "iter"

// ordered is a map of bounded size that remembers the order in which its keys
// were set; when it is full the oldest is forgotten. The zero value with a
// limit is ready to use.
type ordered[K comparable, V any] struct {
	limit       int
	nodes       map[K]*node[K, V]
	first, last *node[K, V]
}

type node[K comparable, V any] struct {
	key        K
	value      V
	prev, next *node[K, V]
}

func (o *ordered[K, V]) get(key K) (V, bool) {
	if n := o.nodes[key]; n != nil {
		return n.value, true
	}
	var none V
	return none, false
}

// set makes key the newest.
func (o *ordered[K, V]) set(key K, value V) {
	o.drop(key)
	if len(o.nodes) >= o.limit {
		o.drop(o.first.key)
	}
	if o.nodes == nil {
		o.nodes = make(map[K]*node[K, V])
	}
	n := &node[K, V]{key: key, value: value, prev: o.last}
	if o.last == nil {
		o.first = n
	} else {
		o.last.next = n
	}
	o.nodes[key], o.last = n, n
}

func (o *ordered[K, V]) drop(key K) {
	n := o.nodes[key]
	if n == nil {
		return
	}
	delete(o.nodes, key)
	if n.prev == nil {
		o.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		o.last = n.prev
	} else {
		n.next.prev = n.prev
	}
}

func (o *ordered[K, V]) clear() { *o = ordered[K, V]{limit: o.limit} }

// newest gives the newest first.
func (o *ordered[K, V]) newest() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for n := o.last; n != nil; n = n.prev {
			if !yield(n.key, n.value) {
				return
			}
		}
	}
}

// all gives the oldest first.
func (o *ordered[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for n := o.first; n != nil; n = n.next {
			if !yield(n.key, n.value) {
				return
			}
		}
	}
}
