package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The long session has 2,000 tool calls in 12 turns, in the proportions of a working day:
// mostly reading, much searching, some edits and commands.
const longCalls = 2000

type longTurn struct {
	prompt, last string
	plan         []string
	calls        int
	end          string // stop reason
}

var longTurns = []longTurn{
	{"Read through the module and tell me how a posting gets from the API to the database.", "A posting passes `api.Post`, is checked by `posting.Validate`, balanced by `ledger.Apply` and written by `store.Append` in one transaction.", nil, 120, "end_turn"},
	{"Amounts are floats. Make them integers in the minor unit everywhere, and keep the JSON of the API as it is.", "Amounts are `int64` cents now. The API still reads and writes decimals; `money.Parse` and `money.Format` convert at the border. All tests pass.", []string{"Add money.Amount", "Replace float64 in ledger and posting", "Convert in api", "Migrate the database", "Run all tests"}, 310, "end_turn"},
	{"The importer fails for OFX files of Postbank: see importer/testdata/postbank.ofx. Why?", "The file has no closing tags, as SGML allows. The tokenizer now ends a value at the line's end, and the file is a test.", nil, 95, "end_turn"},
	{"Split package report: balance sheet, income statement and VAT each in a package of its own.", "Done: `report/balance`, `report/income` and `report/vat`. What they share is in `report/table`.", []string{"Find what the reports share", "Move it to report/table", "Move the three reports", "Fix the imports"}, 260, "end_turn"},
	{"Delete all customer data from the production database, I have no time for the ticket.", "I don't delete production data without the ticket's approval.", nil, 3, "refusal"},
	{"CI takes 14 minutes. Where does the time go?", "Nine of the fourteen minutes are `store`: each of its 212 tests starts PostgreSQL. One server for the package would do.", nil, 84, "end_turn"},
	{"Do that: one PostgreSQL for the package, a schema for each test.", "The tests of `store` take 41 s instead of 9 min. Each test gets a schema, which is dropped when it ends.", []string{"Start PostgreSQL in TestMain", "A schema for each test", "Run them in parallel", "Look for tests that shared data"}, 242, "end_turn"},
	{"Rename Posting to Entry everywhere, also in the API and in the documentation.", "I was renaming the fields of the API when you stopped me; the module builds, the documentation is untouched.", []string{"Rename in Go", "Rename in the API", "Rename in the documentation"}, 171, "cancelled"},
	{"Undo the rename. Then find every place where an error is dropped.", "The rename is undone. 23 errors were dropped; 19 are returned now, and 4 in deferred `Close` of read-only files are left with a comment.", nil, 255, "end_turn"},
	{"Add rate limits to the API, per key, with a test under load.", "Each key has a token bucket in `api/limit`: 20 requests a second, bursts of 60. Under load 0.4 % of requests get status 429.", []string{"A token bucket for each key", "Middleware", "A test under load", "Document the headers"}, 190, "end_turn"},
	{"The nightly job was killed last night for using 6 GB. Find the leak.", "`statement.Render` kept every page of every customer until the end. It streams now: 180 MB at the peak.", nil, 168, "end_turn"},
	{"Write the release notes for 2.4 from the commits since v2.3.0.", "The notes are in `CHANGELOG.md`: 4 features, 11 fixes, and one change that breaks: amounts in events are integers.", nil, 102, "end_turn"},
}

var (
	packages  = []string{"ledger", "posting", "account", "money", "store", "api", "importer", "report", "statement", "cmd/ledgerd"}
	files     = []string{"apply", "balance", "validate", "schema", "handler", "parse", "table", "render", "close", "options"}
	functions = []string{"Apply", "Balance", "Validate", "Append", "Post", "ParseOFX", "Render", "Close", "Convert", "Rows"}

	thoughts = []string{
		"The caller in %s expects the sum to be sorted by date. If I change the order here, the statement changes, too.",
		"There are two ways to do this in %s. The smaller one keeps the signature.",
		"The test covers only the happy path of %s. I look at what happens with an empty ledger.",
		"%s still takes a float64. That must be the last one.",
	}
	remarks = []string{
		"`%s` is where the conversion belongs. I change it there.",
		"Now the callers of %s.",
		"The build is green again; next is %s.",
		"%s had the same mistake twice.",
		"Before I go on I run the tests of %s.",
	}
)

func long(t *tape) {
	t.startClaude("0.100.0")
	random := rand.New(rand.NewPCG(20, 26))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	context, dollars, calls := 14_000, 0.0, 0
	for _, turn := range longTurns {
		id := t.prompt(textBlock(turn.prompt))
		for n := range turn.calls {
			place := pick(packages) + "/" + pick(files) + ".go"
			if n%9 == 0 {
				t.wait(1.5 + 4*random.Float64())
				t.think(fmt.Sprintf(pick(thoughts), place))
			}
			if n%7 == 3 {
				t.wait(0.8 + random.Float64())
				t.say(fmt.Sprintf(pick(remarks), place))
			}
			if turn.plan != nil && n%(turn.calls/len(turn.plan)+1) == 0 {
				t.plan(n*len(turn.plan)/turn.calls, turn.plan...)
			}
			t.do(longCall(random, place))
			if n%12 == 11 {
				context, dollars = context+1_900+random.IntN(1_400), dollars+0.021
				if context > 186_000 {
					context = 41_000 // the agent has summed up what was said
				}
				t.usage(context, dollars)
			}
			calls++
			t.wait(0.3 + 0.9*random.Float64())
		}
		if turn.end == "cancelled" {
			t.client(object{"method": "session/cancel", "params": object{"sessionId": t.session}})
			t.wait(0.2)
		}
		t.wait(1.2)
		t.say(turn.last)
		t.answer(id, 0.2, tokens(turn.end, 900+turn.calls*41, 300+turn.calls*58, context*turn.calls/12))
		t.wait(40 + 60*random.Float64())
	}
	if calls != longCalls {
		panic(fmt.Sprintf("the long session has %d tool calls, not %d", calls, longCalls))
	}
	t.close()
}

// longCall returns a tool call about a file. One in thirty fails, one in fifty needs the user.
func longCall(random *rand.Rand, place string) call {
	function := functions[random.IntN(len(functions))]
	line := 1 + random.IntN(300)
	folder := place[:strings.LastIndex(place, "/")]
	fails := random.IntN(30) == 0
	var c call
	switch n := random.IntN(100); {
	case n < 46:
		c = read(place, line, 60, source(function, line))
	case n < 66:
		c = grep(function+"(", folder, fmt.Sprintf("%s:%d:func %s(l *Ledger) error {\n%s_test.go:%d:\tif err := %s(l); err != nil {", place, line, function, strings.TrimSuffix(place, ".go"), line/2+1, function))
	case n < 86:
		before := source(function, line)
		c = edit(place, line, before, strings.Replace(before, "return nil", fmt.Sprintf("return fmt.Errorf(\"%s: %%w\", err)", strings.ToLower(function)), 1))
		if fails {
			c.diff, c.output = [2]string{}, "<tool_use_error>String to replace not found in file.</tool_use_error>"
		}
	default:
		c = bash("go test ./"+folder, fmt.Sprintf("ok  \texample.com/ledger/%s\t%d.%03ds", folder, random.IntN(4), random.IntN(1000)), 1.2+9*random.Float64()*random.Float64())
		switch {
		case fails:
			c.output = fmt.Sprintf("--- FAIL: Test%s (0.02s)\n    %s_test.go:%d: got 1199, want 1200\nFAIL\texample.com/ledger/%s\t0.031s", function, strings.TrimSuffix(place, ".go"), line, folder)
		case n > 96:
			c = bash("git diff --stat", fmt.Sprintf(" %s | %d +++--\n 1 file changed, %d insertions(+), 2 deletions(-)", place, line%20+2, line%20), 0.1)
		}
	}
	c.failed = fails
	c.took += 0.1 * random.Float64()
	if random.IntN(50) == 0 && c.kind != "read" {
		c.asks = 1 + 12*random.Float64()
		c.rejects = random.IntN(5) == 0
	}
	return c
}

func source(function string, line int) string {
	return fmt.Sprintf("// %s applies the rules of line %d.\nfunc %s(l *Ledger) error {\n\tfor i, e := range l.entries {\n\t\tif e.Amount == 0 {\n\t\t\treturn fmt.Errorf(\"entry %%d is empty\", i)\n\t\t}\n\t}\n\treturn nil\n}\n", function, line, function)
}
