package rule_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/rule"
)

// TestHoldRandom: whatever rules and users do, everything sent is on the tape as wire or
// withheld, everything received as wire, injected or rewritten, and no frame waits at the
// end.
func TestHoldRandom(t *testing.T) {
	rules := []string{
		"update:* => hold", "kind:request => hold 30s", "session:s1 => hold", "dir:agent => hold [every 2]", "kind:response => hold [first 2, per session]",
		"update:* => duplicate", "update:* => postpone 2", "dir:agent kind:request => postpone 5s", "update:* => set params.x 1", `update:* => inject before client {"id":1,"method":"x"}`,
		`kind:request => inject agent {"method":"x"}`, "method:fs/read_text_file => answer {}", "update:* => drop [every 3]", "update:* => corrupt pretty", "update:* => delay 1s", "=> hold [chance 20%]",
		"update:tool_call => corrupt batch", "update:agent_message_chunk => hold [near agent]",
	}
	users := []string{
		"! ann joins", "! ann leaves", "! bob joins", "! bob leaves", "! ann holds update:*", "! bob holds kind:request", "! ann holds", "! ann releases-all", "wait 3s", "wait 31s",
		"! ann adds update:* => hold", "! bob injects client {\"method\":\"y\"}", "! ann injects agent {\"id\":3,\"method\":\"y\"}", "! ann disables rules:1", "! ann enables rules:1",
	}
	text, err := os.ReadFile("testdata/acp.traffic")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	said := map[string]int{}
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
		said[line[:2]] += len(line) - 2
	}
	rounds := 150
	if testing.Short() {
		rounds = 15
	}
	for n := range rounds {
		random := rand.New(rand.NewPCG(2, uint64(n)))
		one := func(list []string) string { return list[random.IntN(len(list))] }
		var b, traffic strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(one(rules) + "\n")
		}
		traffic.WriteString("! ann joins\n! bob looks\n")
		for _, line := range lines {
			traffic.WriteString(line)
			for random.IntN(2) == 0 {
				switch id := 1 + random.IntN(12); random.IntN(6) {
				case 0:
					fmt.Fprintf(&traffic, "! ann releases %d\n", id)
				case 1:
					fmt.Fprintf(&traffic, "! ann releases %d {\"method\":\"edited\"}\n", id)
				case 2:
					fmt.Fprintf(&traffic, "! bob drops %d\n", id)
				case 3:
					fmt.Fprintf(&traffic, "! bob answers %d {}\n", id)
				default:
					traffic.WriteString(one(users) + "\n")
				}
			}
		}
		set, err := rule.Parse("rules", b.String())
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
		set.Attend(d.Desk)
		c := converseWith(t, set, nil, traffic.String(), d.do)
		if got := c.tape.wire[0] + c.tape.withheld[0]; got < said["> "] {
			t.Errorf("%d bytes of the client on the tape, want %d", got, said["> "])
		}
		if got := c.tape.wire[1] + c.tape.withheld[1]; got < said["< "] {
			t.Errorf("%d bytes of the agent on the tape, want %d", got, said["< "])
		}
		if got := c.tape.wire[0] + c.tape.made[0]; got != c.agent.n {
			t.Errorf("the tape has %d bytes for the agent, it got %d", got, c.agent.n)
		}
		if got := c.tape.wire[1] + c.tape.made[1]; got != c.client.n {
			t.Errorf("the tape has %d bytes for the client, it got %d", got, c.client.n)
		}
		if t.Failed() {
			t.Fatalf("round %d, under\n%s%s\n%s\n%s", n, &b, &traffic, &d.log, c)
		}
	}
}
