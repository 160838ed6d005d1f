package main

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"
)

// tenRules are flags with ten rules that fit no frame.
func tenRules() (flags []string) {
	for i := range 10 {
		flags = append(flags, "--rule", fmt.Sprintf("method:vendor/m%d kind:request => drop", i))
	}
	return flags
}

// The same notifications under ten rules that match none of them, compared with the proxy
// without rules.
func BenchmarkRules(b *testing.B) {
	floodBeside(b, "rules", nil, tenRules())
}

// One line to the agent and back under ten rules that do not match it, compared with the
// proxy without rules, and also with --sessions.
func BenchmarkRulesRoundTrip(b *testing.B) {
	progs := newBench(b)
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":"` + fmt.Sprintf("%0134d", 0) + `"}` + "\n")
	ways := [][]string{nil, tenRules(), append(tenRules(), "--sessions")}
	peers := make([]*peer, len(ways))
	for i, flags := range ways {
		command := append([]string{progs.acptap, "proxy", "--store", filepath.Join(b.TempDir(), "store")}, flags...)
		peers[i] = start(b, append(command, "--", progs.agent))
		for range 100 {
			peers[i].ask(line, io.Discard)
		}
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, p := range peers {
			began := time.Now()
			p.ask(line, io.Discard)
			took[i] = append(took[i], time.Since(began))
		}
	}
	for _, p := range peers {
		p.stop()
	}
	bytes := median(took[0])
	b.ReportMetric(float64(bytes.Nanoseconds())/1e3, "bytes-µs")
	b.ReportMetric(float64(median(took[1]))/float64(bytes), "rules10")
	b.ReportMetric(float64(median(took[2]))/float64(bytes), "rules10+sessions")
}
