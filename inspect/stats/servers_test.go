package stats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/trace/nested"
)

// TestServerCalls counts the calls of two starts of a server, and of another one.
func TestServerCalls(t *testing.T) {
	start := time.Unix(0, 0)
	tape := func(server string, calls ...nested.Call) *nested.Tape {
		t := &nested.Tape{Server: server}
		for i, c := range calls {
			c.Tape, c.Request, c.Began = t, uint64(2*i+1), start
			if !c.Ended.IsZero() {
				c.Response = uint64(2*i + 2)
			}
			t.Calls = append(t.Calls, &c)
		}
		return t
	}
	tool := func(name string, took time.Duration, failed bool) nested.Call {
		return nested.Call{Method: "tools/call", Name: name, Ended: start.Add(took), Failed: failed}
	}
	var calls stats.ServerCalls
	for i, one := range []*nested.Tape{
		tape("a / b", tool("echo", 2*time.Second, false), tool("echo", 4*time.Second, true), nested.Call{Method: "tools/call", Name: "echo"}),
		tape("a / b", tool("echo", 9*time.Second, false), nested.Call{Method: "resources/read", Name: "x://y", Ended: start.Add(time.Second)}),
		tape("c"),
	} {
		calls.Add(one, i)
	}
	var got []string
	for _, c := range calls.List() {
		p50, _ := c.Took.Percentile(50)
		got = append(got, fmt.Sprintf("%s: %s n=%d failed=%d open=%d p50=%v slowest=%v", c.Server, c.Name, c.N, c.Failed, c.Open, time.Duration(p50), c.Slowest))
	}
	want := "a / b: a / b/echo n=3 failed=1 open=1 p50=4s slowest={1 1}\na / b: a / b resources/read n=1 failed=0 open=0 p50=1s slowest={1 3}"
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
