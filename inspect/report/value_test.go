package report

import (
	"testing"
	"time"
)

func TestBetween(t *testing.T) {
	ms := func(n int) value { return timeOf(time.Duration(n) * time.Millisecond) }
	for _, tt := range []struct {
		a, b  value
		want  string
		order int
	}{
		{count(4), count(4), "= the same", 0},
		{count(4), count(6), "↑ 2 more", 1},
		{count(6), count(5), "↓ 1 fewer", -1},
		{count(0), count(3), "↑ 3 more", 1},
		{count(1000), count(1500), "↑ 500 more +50 %", 1},
		{count(1500), count(1000), "↓ 500 fewer −33 %", -1},
		{count(100_000), count(100_001), "↑ 1 more", 1},
		{count(3), count(4000), "↑ 3,997 more ×1333", 1},
		{ms(200), ms(500), "↑ 300 ms longer +150 %", 1},
		{ms(500), ms(200), "↓ 300 ms shorter −60 %", -1},
		{ms(100), ms(5000), "↑ 4.90 s longer ×50", 1},
		{ms(1000), ms(1049), "≈ about the same", 0},
		{ms(1049), ms(1000), "≈ about the same", 0},
		{ms(1000), ms(1060), "↑ 60 ms longer +6 %", 1},
		{timeOf(100 * time.Microsecond), timeOf(900 * time.Microsecond), "≈ about the same", 0},
		{ms(0), ms(40), "↑ 40 ms longer", 1},
		{amount(0.5, "USD"), amount(0.75, "USD"), "↑ 0.25 USD more +50 %", 1},
		{amount(0.75, "USD"), amount(0.5, "USD"), "↓ 0.25 USD less −33 %", -1},
		{amount(0.5, "USD"), amount(0.5, "EUR"), "", 0},
		{count(1), ms(1), "", 0},
		{value{}, count(1), "", 0},
		{count(1), value{}, "", 0},
	} {
		d := between(tt.a, tt.b)
		got := d.Arrow
		for _, word := range []string{d.Words, d.Share} {
			if word != "" {
				got += " " + word
			}
		}
		if got != tt.want || d.Order != tt.order {
			t.Errorf("%v and %v: got %q, order %d, want %q, %d", tt.a, tt.b, got, d.Order, tt.want, tt.order)
		}
	}
}

func TestValueString(t *testing.T) {
	for _, tt := range []struct {
		v    value
		want string
	}{
		{count(12345), "12,345"}, {timeOf(1500 * time.Millisecond), "1.50 s"}, {amount(0.042, "US\nD"), "0.042 US ↵ D"}, {value{}, "–"},
	} {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
