package report

import "github.com/acptap/acptap/inspect/conform"

// The rules of the user's own queries, which are in no table.
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
)
