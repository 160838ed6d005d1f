package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
)

// A step is what took time on one of the tapes.
type step struct {
	Step
	command      string // that a tool call ran
	of           string // the command that a tool call runs last; empty: nothing is told together with it
	times        int
	began, ended time.Duration // of the longest
}

// The steps are those that took the most time: the slowest, and commands that ran several times. The
// zero value is ready to use.
type steps struct {
	slowest []step // the slowest first
	runs    map[string]*step
}

// Limits on the steps that are kept, and on those that are told.
const (
	keptSteps   = 8
	toldSteps   = 3
	shownStep   = 10 * time.Second
	leastOfTime = 12 // a step besides the slowest is told if it took at least one part of so many
)

// add notes what took time, from its first frame. command is what a tool call ran, and of
// what that is without flags.
func (s *steps) add(what func() string, command, of string, began, ended time.Duration, from Frame) {
	took := seconds(ended - began)
	one := step{Step{Took: took, Frame: from}, command, of, 1, began, ended}
	if run := s.runs[of]; run != nil {
		if run.command != command {
			run.command = of
		}
		if run.times++; took > run.longest() {
			run.Frame, run.began, run.ended = from, began, ended
		}
		run.Took += took
	} else if of != "" && len(s.runs) < maxNames {
		if s.runs == nil {
			s.runs = map[string]*step{}
		}
		first := one
		s.runs[of] = &first
	}
	if len(s.slowest) == keptSteps && took <= s.slowest[keptSteps-1].Took {
		return
	}
	one.What = what()
	s.insert(one)
}

// in reports whether a step took place during another one.
func (s *step) in(other *step) bool {
	return s.Frame.Run == other.Frame.Run && s.began >= other.began && s.ended <= other.ended
}

// longest returns how long the longest run took.
func (s *step) longest() seconds { return seconds(s.ended - s.began) }

// insert keeps a step among the slowest, after those that took as long.
func (s *steps) insert(one step) {
	i, _ := slices.BinarySearchFunc(s.slowest, one.Took, func(other step, took seconds) int {
		return cmp.Or(cmp.Compare(took, other.Took), -1)
	})
	s.slowest = slices.Insert(s.slowest, i, one)
	s.slowest = s.slowest[:min(len(s.slowest), keptSteps)]
}

// told returns what took the most time, and others that took a good part of it: runs of one command
// together, and the longest silence of the agent. Of two steps of which one is in the other, such as a
// permission for a tool call, the shorter one is told if it took most of the time.
func (s *steps) told(busy seconds, turns *stats.Turns) (list []Step) {
	all := steps{}
	for _, one := range s.slowest {
		inRun := one.of == "" && slices.ContainsFunc(s.slowest, func(other step) bool { // such as the client's work on a tool call
			run := s.runs[other.of]
			return run != nil && run.times > 1 && one.in(&other)
		})
		if run := s.runs[one.of]; !inRun && (run == nil || run.times == 1) {
			all.insert(one)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(s.runs)) {
		if run := s.runs[of]; run.times > 1 {
			one := *run
			one.What = fmt.Sprintf("%s, %d runs in all", cutCommand(one.command, failedColumns), run.times)
			all.insert(one)
		}
	}
	if turns.Silences > 0 {
		all.insert(step{Step{"silence of the agent", seconds(turns.Silence), Frame{Run: turns.Before.Run, Seq: turns.Before.Seq}}, "", "", 1, -turns.Silence, 0})
	}
	var chosen []step
	for _, one := range all.slowest {
		i := slices.IndexFunc(chosen, func(other step) bool { return one.in(&other) })
		switch {
		case i < 0:
			chosen = append(chosen, one)
		case one.Took*5 >= chosen[i].Took*4:
			chosen[i] = one
		}
	}
	for i, one := range chosen[:min(len(chosen), toldSteps)] {
		if i == 0 || one.Took >= max(busy/leastOfTime, seconds(shownStep)) {
			list = append(list, one.Step)
		}
	}
	return list
}
