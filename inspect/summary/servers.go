package summary

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Server counts the calls of one tool or method of an MCP server that the agent
// started, according to the server's tape.
type Server struct {
	Server string  `json:"server,omitempty"`
	Call   string  `json:"call"` // SERVER/TOOL, or SERVER METHOD for anything but a tool call
	Count  int     `json:"count"`
	Failed int     `json:"failed,omitempty"`
	Open   int     `json:"open,omitempty"` // without an answer; not in Count
	Median seconds `json:"median,omitzero"`
	Worst  seconds `json:"worst,omitzero"`
}

// SetServers sets the calls of the agent's servers, and those that were never called.
func (s *Summary) SetServers(list []stats.Named, uncalled []nested.Uncalled) {
	s.Servers, s.Uncalled = nil, uncalled[:min(len(uncalled), maxNames)]
	for _, one := range list[:min(len(list), maxNames)] {
		median, _ := one.Took.Percentile(50)
		s.Servers = append(s.Servers, Server{one.Server, one.Name, one.N, one.Failed, one.Open, seconds(median), seconds(one.Took.Max())})
	}
}

// serverLine says how often each server was called or why it never was, and which call was
// the slowest.
func (s *Summary) serverLine() []termtext.Span {
	var names []string
	calls, failed := map[string]int{}, map[string]int{}
	var slowest Server
	for _, one := range s.Servers {
		name := cmp.Or(one.Server, one.Call)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		calls[name] += one.Count + one.Open
		failed[name] += one.Failed
		if one.Worst > slowest.Worst {
			slowest = one
		}
	}
	var l line
	for i, name := range names[:min(len(names), maxServers)] {
		l = append(l, termtext.Plain.Span(before(i)+termtext.Piece(name)+" "+termtext.Counted(calls[name], "call")))
		if n := failed[name]; n > 0 {
			l = append(l, termtext.Failure.Span(fmt.Sprintf(" (%d failed)", n)))
		}
	}
	rest := min(len(s.Uncalled), max(maxServers-len(names), 0))
	for i := range rest {
		u := &s.Uncalled[i]
		style := termtext.Plain
		if u.Failed() {
			style = termtext.Failure
		}
		l = append(l, termtext.Plain.Span(before(len(names)+i)+termtext.Piece(u.Server)+" "), style.Span(u.Brief()))
	}
	if more := max(len(names)-maxServers, 0) + len(s.Uncalled) - rest; more > 0 {
		l = append(l, termtext.Plain.Span(fmt.Sprintf(" and %d more", more)))
	}
	if slowest.Worst > 0 {
		l.add(termtext.Plain, "slowest: "+termtext.Piece(slowest.Call)+", "+termtext.Duration(time.Duration(slowest.Worst)))
	}
	return l
}

// before returns what precedes the server with an index in the line.
func before(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// maxServers limits the servers that are named.
const maxServers = 6
