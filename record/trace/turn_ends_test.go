package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// A turn is returned once, when everything about it is known: its cost comes after its end.
func TestTurnEnds(t *testing.T) {
	costs := func(amount string) string {
		return update(`"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":` + amount + `,"currency":"USD"}`)
	}
	created := `> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}` + "\n"
	for _, tt := range []struct{ name, lines, want string }{
		{"cost behind the end", v1 + created + prompt("2", "a") + reply("2", ended) + costs("0.5") + prompt("3", "b") + reply("3", ended) + costs("0.75"),
			"turn 1 completed end_turn 0.5 with 10, turn 2 completed end_turn 0.25 with 12"},
		{"no end", v1 + created + prompt("2", "a") + reply("2", ended) + prompt("3", "b"),
			"turn 1 completed end_turn 0 with 9, turn 2 still open  0 with 9"},
		{"none began", v1 + reply("2", ended), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ends trace.TurnEnds
			var got []string
			note := func(list []trace.TurnEnd, at uint64) {
				for _, e := range list {
					got = append(got, fmt.Sprintf("turn %d %s %s %v with %d", e.Number, e.How, e.Reason, e.Usage.Cost.Amount, at))
				}
			}
			for _, e := range eventsOf(t, &trace.Trace{Brief: true}, tt.lines) {
				note(ends.Observe(&e), e.Seq)
			}
			note(ends.Rest(0), 0)
			if all := strings.Join(got, ", "); all != tt.want {
				t.Errorf("got  %s\nwant %s", all, tt.want)
			}
		})
	}
}

// A turn has the model that the session is set to when it begins.
func TestModel(t *testing.T) {
	options := func(model string) string {
		return `"configOptions":[{"id":"mode","category":"mode","currentValue":"ask"},{"id":"m","category":"model","currentValue":"` + model + `"}]`
	}
	created := func(result string) string {
		return `> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s",` + result + `}}` + "\n"
	}
	set := `> {"jsonrpc":"2.0","id":5,"method":"session/set_model","params":{"sessionId":"s","modelId":"b"}}` + "\n" + `< {"jsonrpc":"2.0","id":5,"result":{}}` + "\n"
	first, second := prompt("2", "hi")+reply("2", ended), prompt("3", "hi")+reply("3", ended)
	for _, tt := range []struct{ name, lines, want string }{
		{"option", v1 + created(options("a")) + first + update(`"sessionUpdate":"config_option_update",`+options("b")) + second, "a b"},
		{"before there were options", v1 + created(`"models":{"currentModelId":"a"}`) + first + set + second, "a b"},
		{"not told", v1 + first + second, " "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turns := session(t, build(t, tt.lines), "s").Conversation.Turns
			if got := turns[0].Model + " " + turns[1].Model; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
