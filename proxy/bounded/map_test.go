package bounded_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/bounded"
)

// TestMap: a full map forgets the key that was set first; setting a key again makes it the
// newest.
func TestMap(t *testing.T) {
	m := bounded.Map[string, int]{Limit: 2}
	m.Set("a", 1)
	m.Set("b", 2)
	m.Set("a", 3)
	if forgotten, full := m.Set("c", 4); !full || forgotten != 2 {
		t.Errorf("forgot %d, %v; want 2, true", forgotten, full)
	}
	if got := maps.Collect(m.All()); !maps.Equal(got, map[string]int{"a": 3, "c": 4}) {
		t.Errorf("has %v", got)
	}
	m.Drop("none")
	m.Drop("a")
	m.Set("d", 5)
	var keys []string
	for k := range m.Newest() {
		keys = append(keys, k)
	}
	if !slices.Equal(keys, []string{"d", "c"}) || m.Len() != 2 {
		t.Errorf("newest first: %v, %d keys", keys, m.Len())
	}
	if _, ok := m.Get("a"); ok {
		t.Error("a is still there")
	}
	m.Clear()
	if _, full := m.Set("e", 6); full || m.Len() != 1 {
		t.Errorf("after Clear: %d keys, full %v", m.Len(), full)
	}
}
