package control

import (
	"fmt"
	"slices"
	"testing"
)

// TestLedger: a user learns of each frame that begins to wait or stops waiting, whatever
// notifications were lost, and whether notifications or answers come first.
func TestLedger(t *testing.T) {
	held := func(ids ...uint64) (list []Held) {
		for _, id := range ids {
			list = append(list, Held{ID: id})
		}
		return list
	}
	waits := func(id uint64) Notification { return Notification{Kind: "held", Held: &Held{ID: id}} }
	for _, tt := range []struct {
		name  string
		hello []Held
		early []Notification // before the answer to hello is handled
		late  []Notification // after that
		again []Held         // the frames that wait then
		want  []string
	}{
		{"hello", held(1, 2), nil, nil, nil, []string{"held 1", "held 2"}},
		{"overtaken", held(1, 2), []Notification{{Kind: "gone", ID: 1}}, nil, nil, []string{"gone 1", "held 2"}},
		{"newer", held(1), []Notification{waits(2)}, nil, nil, []string{"held 2", "held 1"}},
		{"lost", held(1, 2, 3), nil, []Notification{{Kind: "lost", Count: 7}, {Kind: "gone", ID: 3}, waits(5)}, held(2, 3, 4), []string{
			"held 1", "held 2", "held 3", "gone 3", "held 5", "held 2", "held 4", "gone 1", "lost 7",
		}},
		{"lost early", held(1), []Notification{{Kind: "lost", Count: 7}}, nil, []Held{}, []string{"held 1", "gone 1", "lost 7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			l := newLedger(func(n Notification) {
				id := n.ID
				if n.Held != nil {
					id = n.Held.ID
				}
				got = append(got, fmt.Sprint(n.Kind, " ", max(id, uint64(n.Count))))
			})
			for _, n := range tt.early {
				l.note(n)
			}
			ask := l.replace(tt.hello)
			for _, n := range tt.late {
				ask = l.note(n) || ask
			}
			if ask != (tt.again != nil) {
				t.Errorf("it asks what waits: %v", ask)
			}
			if ask && l.replace(tt.again) {
				t.Error("it asks without end")
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
