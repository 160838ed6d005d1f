package frameindex

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/record"
)

// A lateJudge finds something when all has been looked at.
type lateJudge struct {
	findings map[uint64][]*conform.Finding
	known    bool // from the beginning, or once Late was asked
}

func (j *lateJudge) Await(context.Context, uint64) bool { return true }

func (j *lateJudge) Findings(seq uint64) []*conform.Finding {
	if !j.known {
		return nil
	}
	return j.findings[seq]
}

func (j *lateJudge) Late(_ context.Context, n int) (late []uint64) {
	if n > 0 {
		return nil
	}
	j.known = true
	for seq, list := range j.findings {
		for range list {
			late = append(late, seq)
		}
	}
	return late
}

// Late findings have the same effect as if they had been known at once, whatever else the
// filter asks for.
func TestFoundLate(t *testing.T) {
	const tape = `{"acptap":1,"protocol":"acp"}
{"dir":"c2a","at":0,"frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"one"}]}}}
{"dir":"a2c","at":1,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","id":7,"method":"terminal/create","params":{"sessionId":"s","command":"one"}}}
{"dir":"a2c","at":3,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"}}}}}
{"dir":"a2c","at":4,"frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
{"dir":"c2a","at":5,"frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}}}
{"dir":"a2c","at":6,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c"}}}}}
`
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	if err := os.WriteFile(path, []byte(tape), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenTimeline("tape", func() ([]*record.Tape, error) {
		tape, err := record.OpenFile(path)
		return []*record.Tape{tape}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	x := NewIndex(func() {})
	x.Read(t.Context(), r)
	findings := map[uint64][]*conform.Finding{
		1: {{Rule: &conform.Rule{ID: "ACP1"}, Strength: conform.Warning, Fault: conform.Client}},
		3: {{Rule: &conform.Rule{ID: "ACP2"}, Strength: conform.Violation, Fault: conform.Agent}, {Rule: &conform.Rule{ID: "ACP1"}, Strength: conform.Note, Fault: conform.Agent}},
		6: {{Rule: &conform.Rule{ID: "RPC3"}, Strength: conform.Violation, Fault: conform.Agent}},
	}
	for query, want := range map[string][]uint64{
		"is:violation":                     {3, 6},
		"!is:violation":                    {1, 2, 4, 5, 7},
		"is:finding turn:1":                {1, 3},
		`is:finding "one"`:                 {1, 3},
		`is:finding "one" turn:1 !is:open`: {1},
		"is:finding is:open":               {3, 6},
		"is:open | is:warning":             {1, 3, 6},
		"rule:ACP1 by:agent":               {3},
		"is:failed":                        {3, 6},
	} {
		t.Run(query, func(t *testing.T) {
			var all [2]Matches
			for i, known := range []bool{true, false} {
				q, err := filter.Parse(query)
				if err != nil {
					t.Fatal(err)
				}
				s := &Scan{Matcher: NewMatcher(q, r.start()), Index: x, Judge: &lateJudge{findings, known}, OnFirst: func() {}, OnMore: func() {}}
				s.Read(t.Context(), r)
				all[i].Add(s.Take())
				for name, set := range map[string][2]*NumberSet{
					"shown": {&all[i].All, &all[0].All}, "heads": {&all[i].Heads, &all[0].Heads}, "failures": {&all[i].Failures, &all[0].Failures},
				} {
					if got, want := numbers(set[0]), numbers(set[1]); !slices.Equal(got, want) {
						t.Errorf("%s: got %v late, want %v as at once", name, got, want)
					}
				}
				if got := numbers(&all[i].All); !slices.Equal(got, want) {
					t.Errorf("known at once %v: got %v, want %v", known, got, want)
				}
			}
		})
	}
}

func numbers(s *NumberSet) (all []uint64) {
	for i := range s.Len() {
		all = append(all, s.At(i))
	}
	return all
}
