package main

import (
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// A tape that was recorded while the clock was behind is not as old as the clock showed: its
// id says after which other one it was recorded.
func TestTapesBefore(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tape := func(id string, began time.Time) record.Info {
		return record.Info{Tape: id, Start: record.Start{Time: began}}
	}
	l := record.Listing{Tapes: []record.Info{
		tape("20260102T030405000-aaaaaa", began),
		tape("20260102T040405000-bbbbbb", began.Add(time.Hour)),
		tape("20260102T040405001-cccccc", began),
	}}
	got := tapesBefore(&l, began.Add(time.Minute))
	if want := []string{"20260102T030405000-aaaaaa"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
