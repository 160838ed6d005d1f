package proxy_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

// idleEnv tells the test binary, and the processes that it starts, how many idle Interceptors
// each proxy has in addition to its own, or that it has idleRules around its own.
const idleEnv = "PROXY_TEST_IDLE"

// runAll runs all tests with no, one and three Interceptors that change nothing, and with
// rules that fit nothing: bytes, ends, signals, status and tape must be the same. Benchmarks
// and fuzzing run once.
func runAll(m *testing.M) (code int) {
	flag.Parse()
	counts := []string{"0", "1", "3", "rules"}
	if flag.Lookup("test.bench").Value.String() != "" || flag.Lookup("test.fuzz").Value.String() != "" || os.Getenv(idleEnv) != "" {
		return m.Run()
	}
	for _, n := range counts {
		os.Setenv(idleEnv, n)
		if got := m.Run(); got != 0 {
			fmt.Printf("FAIL with idle interceptors: %s=%s\n", idleEnv, n)
			code = got
		}
	}
	return code
}

// run runs p among idle Interceptors.
func run(ctx context.Context, p *proxy.Proxy) error {
	q := *p
	q.Interceptors = amongIdle(p.Interceptors)
	if p.Prepare != nil {
		q.Prepare = func() (proxy.Journal, []proxy.Interceptor) {
			j, own := p.Prepare()
			return j, amongIdle(own)
		}
	}
	return q.Run(ctx)
}

// amongIdle returns a chain with one idle Interceptor at the client's end, and all
// others at the agent's.
func amongIdle(own []proxy.Interceptor) []proxy.Interceptor {
	if os.Getenv(idleEnv) == "rules" {
		return idleRules().Chain(1, own...)
	}
	n, _ := strconv.Atoi(os.Getenv(idleEnv))
	var all []proxy.Interceptor
	for i := range n {
		if i == 1 {
			all = append(all, own...)
		}
		all = append(all, idle{})
	}
	if n < 2 {
		all = append(all, own...)
	}
	return all
}

// idleRules returns ten rules that fit nothing, half of them at the agent's end.
func idleRules() *rule.Set {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "method:vendor/m%d kind:request => drop%s\n", i, []string{"", " [near agent]"}[i%2])
	}
	set, err := rule.Parse("rules", text.String())
	if err != nil {
		panic(err)
	}
	return set
}

// An idle Interceptor changes nothing.
type idle struct{}

func (idle) Start(proxy.Handle)                                    {}
func (idle) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame { return append(out, f) }
func (idle) Held() []wire.Frame                                    { return nil }
func (idle) End(_ wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	return out, nil
}

// A selective one sees some directions only.
type selective struct {
	idle
	wants [2]bool
}

func (s selective) Wants(dir wire.Direction) bool { return s.wants[dir] }

// alone returns the report about a failed Interceptor as if there were no others.
func alone(told string) string {
	if place, rest, ok := strings.Cut(told, ":"); ok && strings.HasPrefix(place, "interceptor ") {
		return "interceptor:" + rest
	}
	return told
}

// withoutOthers skips a test of what becomes of the beginnings of lines, which
// idle Interceptors keep until the ends.
func withoutOthers(t *testing.T) {
	t.Helper()
	if len(amongIdle(nil)) > 0 {
		t.Skip("the others keep the beginning of a line")
	}
}
