package report

import (
	"slices"

	"github.com/acptap/acptap/inspect/conform"
)

// Rules that are in no specification, and so not in conform's tables: the user's queries,
// and stalls.
var (
	Expect = &conform.Rule{
		ID: "EXPECT", Name: "expected-frame", Clauses: []conform.Clause{{Strength: conform.Violation}},
		Text: conform.Text{
			Asks:  "At least one frame fits each query of `--expect`.",
			Finds: "No frame fits the query.",
			Do:    "see why what the query describes did not happen, or change the query",
		},
	}
	Forbid = &conform.Rule{
		ID: "FORBID", Name: "forbidden-frame", Clauses: []conform.Clause{{Strength: conform.Violation}},
		Text: conform.Text{
			Asks:  "No frame fits a query of `--forbid`.",
			Finds: "A frame fits the query.",
			Do:    "see why what the query describes happened, or change the query",
		},
	}
	Watch = &conform.Rule{
		ID: "WATCH", Name: "stalled", Clauses: []conform.Clause{{Strength: conform.Note}},
		Text: conform.Text{
			Asks:   "Nothing hangs for longer than `acptap watch` allows.",
			Finds:  "From this frame on, a turn, a request, the user or the agent itself kept somebody waiting too long; the wait is over now. Also: a client started the same ACP agent three times in two minutes, one run after the other, without a turn.",
			Spares: "What still hangs on a tape that is being recorded; `acptap watch` reports that.",
			Do:     "look at what held things up, with `acptap stats --by turn` or in the turns of `acptap inspect`",
		},
	}
)

// Own returns these rules.
func Own() []*conform.Rule { return []*conform.Rule{Expect, Forbid, Watch} }

func isOwn(r *conform.Rule) bool { return slices.Contains(Own(), r) }
