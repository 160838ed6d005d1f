package replay_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A session of version 2, in which both sides use batches.
const batches = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{},"info":{"name":"b","version":"1"}}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c [{"jsonrpc":"2.0","id":2,"method":"session/set_config_option","params":{"sessionId":"s","configId":"m","value":"x"}}, {"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}]
a [ {"jsonrpc":"2.0","id":3,"result":{"sessions":[{"sessionId":"s","cwd":"/w/rec"}]}},{"jsonrpc":"2.0","id":2,"result":{"configOptions":[]}} ]
c {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}
a {"jsonrpc":"2.0","id":4,"result":{}}
a [{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"running"}}},{"jsonrpc":"2.0","id":70,"method":"session/request_permission","params":{"sessionId":"s","title":"rm /w/rec/a","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}},{"jsonrpc":"2.0","id":71,"method":"_x/ask","params":{"sessionId":"s"}}]
c [{"jsonrpc":"2.0","id":70,"result":{"outcome":{"outcome":"selected","optionId":"y"}}},{"jsonrpc":"2.0","id":71,"result":{"ok":true}}]
a [{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"done"}}}},{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle"}}}]
`

// side returns the lines of one side of a tape as tapeOf takes it.
func side(tape, prefix string) (lines []string) {
	for line := range strings.Lines(tape) {
		if frame, ok := strings.CutPrefix(line, prefix+" "); ok {
			lines = append(lines, strings.TrimSuffix(frame, "\n"))
		}
	}
	return lines
}

// single takes the entries out of a batch of two.
func single(batch string) (first, second string) {
	first, second, _ = strings.Cut(strings.Trim(batch, "[ ]"), "}},")
	return first + "}}", strings.TrimSpace(second)
}

func TestBatches(t *testing.T) {
	client, agent := side(batches, "c"), side(batches, "a")
	set, list := single(client[2])
	permit, tell := single(client[4])
	listed, isSet := single(agent[2])
	replaced := func(lines []string, i int, with ...string) []string {
		return append(append(append([]string(nil), lines[:i]...), with...), lines[i+1:]...)
	}
	for _, tt := range []struct {
		name   string
		client []string
		agent  []string
	}{
		{"as recorded", client, agent},
		{"entries in another order", replaced(client, 2, "["+list+","+set+"]"), agent},
		{"requests one by one", replaced(client, 2, set, list), replaced(agent, 2, isSet, listed)},
		{"requests one by one, in another order", replaced(client, 2, list, set), replaced(agent, 2, listed, isSet)},
		{"answers one by one", replaced(client, 4, tell, permit), agent},
		{"other ids", replaced(client, 2, strings.NewReplacer(`"id":2`, `"id":"two"`, `"id":3`, `"id":"three"`).Replace(client[2])),
			replaced(agent, 2, strings.NewReplacer(`"id":2`, `"id":"two"`, `"id":3`, `"id":"three"`).Replace(agent[2]))},
		{"another directory", replaced(client, 1, strings.Replace(client[1], "/w/rec", "/srv/now", 1)),
			strings.Split(strings.ReplaceAll(strings.Join(agent, "\n"), "/w/rec", "/srv/now"), "\n")},
		{"what was sent one by one in a batch", replaced(client, 3, "["+client[3]+"]"), agent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, batches)}, Cwd: "/w/rec"}
			report, err := a.Run(t.Context(), strings.NewReader(strings.Join(tt.client, "\n")+"\n"), &out, io.Discard)
			if err != nil || len(report.Notes) > 0 {
				t.Errorf("%v\n%s", err, &report)
			}
			if want := strings.Join(tt.agent, "\n") + "\n"; out.String() != want {
				t.Errorf("got\n%s\nwant\n%s", &out, want)
			}
		})
	}
}

// If one entry of a batch is not on the tape, the others are answered.
func TestBatchMiss(t *testing.T) {
	client := side(batches, "c")
	client[2] = strings.Replace(client[2], `"session/list"`, `"session/lost"`, 1)
	var out bytes.Buffer
	a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, batches)}, Cwd: "/w/rec", Partial: true}
	report, err := a.Run(t.Context(), strings.NewReader(strings.Join(client[:3], "\n")+"\n"), &out, io.Discard)
	if err == nil || len(report.Misses) != 1 || !strings.Contains(report.Misses[0].Text, "session/lost") {
		t.Errorf("got %v, %s", err, &report)
	}
	said := strings.Split(strings.TrimSpace(out.String()), "\n")[2:]
	if len(said) != 2 || !strings.Contains(said[0], `"id":3,"error":{`) || said[1] != `{"jsonrpc":"2.0","id":2,"result":{"configOptions":[]}}` {
		t.Errorf("got %q", said)
	}
}
