package stats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/trace"
)

// Calls without an end, or with unknown times, are not among the slowest; of those that
// took equally long, the first comes first.
func TestSlowest(t *testing.T) {
	call := func(request, response uint64, took time.Duration, untimed bool) *trace.Call {
		return &trace.Call{Request: request, Response: response, Began: time.Second, Ended: time.Second + took, Untimed: untimed}
	}
	calls := []*trace.Call{
		call(1, 2, 5, false),
		call(3, 0, 0, false),
		call(4, 5, 9, true),
		call(6, 7, 7, false),
		call(8, 9, 5, false),
		call(10, 11, 1, false),
	}
	for n, want := range map[int]string{0: "", 1: "6", 3: "6 1 8", 9: "6 1 8 10"} {
		var got []string
		for _, c := range stats.Slowest(calls, n) {
			got = append(got, fmt.Sprint(c.Request))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the %d slowest: got the requests %v, want %s", n, got, want)
		}
	}
}
