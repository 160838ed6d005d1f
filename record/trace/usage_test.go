package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

func count(n uint64) trace.Count { return trace.Count{N: n, Given: true} }

// Each place where agents say what a turn took, and each way to say it.
func TestTokens(t *testing.T) {
	end := func(more string) string { return `{"stopReason":"end_turn",` + more + `}` }
	chunk := func(usage string) string {
		return update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":` + usage + `}`)
	}
	for _, tt := range []struct{ name, lines, want string }{
		{"none", v1 + prompt("2", "hi") + reply("2", ended), `{}`},
		{"null", v1 + prompt("2", "hi") + reply("2", end(`"usage":null,"_meta":{"quota":{"token_count":null}}`)), `{}`},
		{"of the schema", v1 + prompt("2", "hi") + reply("2", end(`"usage":{"totalTokens":31710,"inputTokens":10,"outputTokens":200,"thoughtTokens":7,"cachedReadTokens":30000,"cachedWriteTokens":1500}`)),
			`{"input":10,"output":200,"thought":7,"cachedRead":30000,"cachedWrite":1500,"total":31710}`},
		{"zero is a number", v1 + prompt("2", "hi") + reply("2", end(`"usage":{"inputTokens":0,"thoughtTokens":null}`)), `{"input":0}`},
		{"no numbers", v1 + prompt("2", "hi") + reply("2", end(`"usage":{"inputTokens":"7","outputTokens":-1,"totalTokens":1.5,"cachedReadTokens":1e300}`)), `{}`},
		{"in a quota", v1 + prompt("2", "hi") + reply("2", end(`"_meta":{"quota":{"token_count":{"input_tokens":44,"output_tokens":9},"model_usage":[]}}`)), `{"input":44,"output":9}`},
		{"in a quota, as the adapters spell it", v1 + prompt("2", "hi") + reply("2", end(`"usage":null,"_meta":{"quota":{"token_count":{"totalTokens":120,"inputTokens":80,"cachedInputTokens":10,"cachedWriteTokens":3,"outputTokens":20,"reasoningOutputTokens":7}}}`)),
			`{"input":80,"output":20,"thought":7,"cachedRead":10,"cachedWrite":3,"total":120}`},
		{"in both", v1 + prompt("2", "hi") + reply("2", end(`"usage":{"inputTokens":1},"_meta":{"quota":{"token_count":{"input_tokens":44}}}`)), `{"input":1}`},
		{"in _meta", v1 + prompt("2", "hi") + reply("2", end(`"_meta":{"usage":{"inputTokens":8,"outputTokens":2}}`)), `{"input":8,"output":2}`},
		{"of each request to the model", v1 + prompt("2", "hi") + chunk(`{"inputTokens":5,"outputTokens":2,"totalTokens":7}`) + said("a") + chunk(`{"inputTokens":6,"outputTokens":1}`) + reply("2", ended),
			`{"input":11,"output":3,"total":7}`},
		{"of each request, older names", v1 + prompt("2", "hi") + chunk(`{"promptTokens":5,"completionTokens":2,"thoughtsTokens":1,"cachedTokens":4}`) + reply("2", ended),
			`{"input":5,"output":2,"thought":1,"cachedRead":4}`},
		{"of the requests and of the turn", v1 + prompt("2", "hi") + chunk(`{"inputTokens":5}`) + reply("2", end(`"usage":{"inputTokens":6}`)), `{"input":6}`},
		{"of a request of the history", load + chunk(`{"inputTokens":5}`) + reply("1", "{}") + prompt("2", "hi") + reply("2", ended), `{}`},
		{"early 2", v2early + prompt("2", "hi") + reply("2", "{}") + update(`"sessionUpdate":"state_update","state":"idle","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7}`), `{"input":3,"output":4,"total":7}`},
		{"2", v2 + prompt("2", "hi") + reply("2", "{}") + update(`"sessionUpdate":"state_update","state":"idle","usage":{"inputTokens":3}`), `{"input":3}`},
		{"2, of two prompts at once", v2 + prompt("2", "hi") + reply("2", "{}") + prompt("3", "ho") + reply("3", "{}") + update(`"sessionUpdate":"state_update","state":"idle","usage":{"inputTokens":3}`), `{}`},
		{"in an error", v1 + prompt("2", "hi") + `< {"id":2,"error":{"code":-32603,"message":"x"}}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := session(t, build(t, tt.lines), "s").Conversation.Turns[0]
			got, err := json.Marshal(turn.Usage.Tokens)
			if err != nil {
				t.Fatal(err)
			}
			check(t, string(got), tt.want)
		})
	}
}

// The cost of a turn is the growth of the session's cost, if that is known at both ends.
func TestCost(t *testing.T) {
	cost := func(amount, currency string) string {
		return update(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":` + amount + `,"currency":"` + currency + `"}`)
	}
	turn := func(id, inside string) string { return prompt(id, "hi") + inside + reply(id, ended) }
	for _, tt := range []struct{ name, lines, want string }{
		{"not reported", v1 + turn("2", said("a")) + turn("3", ""), "– –"},
		{"grows", v1 + turn("2", cost("0.04", "USD")) + turn("3", cost("0.06", "USD")+cost("0.1", "USD")) + turn("4", cost("0.1", "USD")), "0.04USD 0.06USD 0USD"},
		{"not told in a turn", v1 + turn("2", cost("1", "USD")) + turn("3", update(`"sessionUpdate":"usage_update","used":5,"size":9`)), "1USD –"},
		{"told late", v1 + turn("2", "") + cost("0.04", "USD") + turn("3", "") + cost("0.1", "USD"), "0.04USD 0.06USD"},
		{"told at the beginning", load + reply("1", "{}") + cost("2", "EUR") + turn("2", cost("2.5", "EUR")), "0.5EUR"},
		{"of a session from before", load + reply("1", "{}") + turn("2", cost("2", "USD")) + turn("3", cost("2.5", "USD")), "– 0.5USD"},
		{"less than before", v1 + turn("2", cost("1", "USD")) + turn("3", cost("0.2", "USD")) + turn("4", cost("0.5", "USD")), "1USD – 0.3USD"},
		{"counted anew after a load", v1 + turn("2", cost("1", "USD")) + strings.ReplaceAll(load, `"id":1`, `"id":9`) + cost("1", "USD") + reply("9", "{}") + turn("3", cost("0.25", "USD")) + turn("4", cost("0.75", "USD")), "1USD 0.25USD 0.5USD"},
		{"another currency", v1 + turn("2", cost("1", "USD")) + turn("3", cost("2", "EUR")) + turn("4", cost("3", "EUR")), "1USD – 1EUR"},
		{"no currency", v1 + turn("2", update(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":1}`)), "–"},
		{"two prompts at once", v2 + prompt("2", "hi") + reply("2", "{}") + prompt("3", "hi") + reply("3", "{}") + cost("1", "USD") + idle("end_turn") +
			prompt("4", "ho") + reply("4", "{}") + cost("1.5", "USD") + idle("end_turn"), "– – 0.5USD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, turn := range session(t, build(t, tt.lines), "s").Conversation.Turns {
				text := "–"
				if c := turn.Usage.Cost; c.Currency != "" {
					text = fmt.Sprint(c.Amount, c.Currency)
				}
				got = append(got, text)
			}
			check(t, strings.Join(got, " "), tt.want)
		})
	}
}

// The state has the highest fill of the context, and the cost, also in a brief Trace.
func TestUsagePeak(t *testing.T) {
	brief := trace.Trace{Brief: true}
	for _, f := range tape(t, v1+update(`"sessionUpdate":"usage_update","used":50,"size":200,"cost":{"amount":0.5,"currency":"USD"}`)+update(`"sessionUpdate":"usage_update","used":20,"size":200`)) {
		brief.Add(&f)
	}
	got := *brief.Sessions[0].Conversation.State.Usage
	if got.Used != 20 || got.Peak != 50 || got.Reported != (dialect.Cost{Amount: 0.5, Currency: "USD"}) {
		t.Errorf("got %+v, want 20 used, 50 at the peak, and a cost of 0.5 USD", got)
	}
}

// A session that was loaded has cost what the agent counted before and since.
func TestCostAfterLoad(t *testing.T) {
	cost := func(amount string) string {
		return update(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":` + amount + `,"currency":"USD"}`)
	}
	again := strings.ReplaceAll(load, `"id":1`, `"id":9`)
	for _, tt := range []struct {
		name, lines string
		want        float64
	}{
		{"counts anew", cost("1") + again + reply("9", "{}") + cost("0.25") + cost("0.5"), 1.5},
		{"twice", cost("1") + again + reply("9", "{}") + cost("0.25") + again + reply("9", "{}") + cost("0.125"), 1.375},
		{"repeats the history", cost("0.5") + cost("1") + again + cost("0.5") + cost("1") + reply("9", "{}") + cost("1.5"), 1.5},
		{"is corrected", cost("1") + cost("0.75"), 0.75},
		{"is corrected after a load", cost("1") + again + reply("9", "{}") + cost("1.5") + cost("1.25"), 1.25},
		{"could not be loaded", cost("1") + again + "\n< " + `{"id":9,"error":{"code":-32002,"message":"no"}}` + "\n" + cost("0.75"), 0.75},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := session(t, build(t, v1+tt.lines), "s").Conversation.State.Usage.Reported.Amount; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTokenSum(t *testing.T) {
	for _, tt := range []struct {
		name    string
		totals  []uint64
		want    uint64
		running bool
	}{
		{"none", nil, 0, false},
		{"of each turn", []uint64{5, 3, 7, 9}, 24, false},
		{"too few to tell", []uint64{1, 2, 3}, 6, false},
		{"of the session", []uint64{1, 2, 3, 9}, 9, true},
		{"the same again is no sum", []uint64{1, 2, 3, 3}, 9, false},
		{"of the session, until it is not", []uint64{1, 2, 3, 4, 3}, 13, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sum trace.TokenSum
			sum.Add(trace.Tokens{})
			for _, n := range tt.totals {
				sum.Add(trace.Tokens{Total: count(n)})
			}
			got, running := sum.Total()
			if got.Total.N != tt.want || got.Total.Given != (tt.totals != nil) || running != tt.running || sum.Turns != len(tt.totals) {
				t.Errorf("got %+v of %d turns, running %v; want %d, %v", got.Total, sum.Turns, running, tt.want, tt.running)
			}
		})
	}
	var sum trace.TokenSum
	for i := range uint64(4) { // what was read grows with the session, what was written does not
		sum.Add(trace.Tokens{Input: count(10 * i), Output: count(7 - i)})
	}
	if got, running := sum.Total(); running || got.Input.N != 60 {
		t.Errorf("got %+v, running %v; want the sum, 60", got, running)
	}
}
