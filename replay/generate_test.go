package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

func TestConversations(t *testing.T) {
	for seed := range uint64(40) {
		text := replaytest.Talk(rand.New(rand.NewPCG(seed, 1)))
		for _, r := range robots {
			t.Run(fmt.Sprintf("%d/%s", seed, r.name), func(t *testing.T) {
				t.Parallel()
				tape, err := record.ReadPortable(strings.NewReader(text), "generated")
				if err != nil {
					t.Fatal(err)
				}
				checkRobot(t, r, tape, replay.Agent{})
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

// Whatever lines a client sends, the agent ends, and always in the same way. Use
// -fuzzminimizetime 10x: otherwise the fuzzer spends a minute on shortening each new input.
func FuzzAgent(f *testing.F) {
	f.Add([]byte(`{"dir":"c2a","frame":{"id":1,"method":"session/new","params":{"cwd":"/w"}}}
{"dir":"a2c","frame":{"id":1,"result":{"sessionId":"s"}}}
{"dir":"err","text":"x"}
{"dir":"c2a","frame":{"id":2,"method":"session/prompt","params":{"sessionId":"s"}}}
{"dir":"a2c","frame":{"method":"session/update","params":{"sessionId":"s"}}}
{"dir":"a2c","frame":{"id":2,"result":{}}}`), []byte(`{"id":7,"method":"session/new","params":{"cwd":"/v"}}
{"id":8,"method":"session/prompt","params":{"sessionId":"s"}}`), uint8(0))
	f.Add([]byte(`{"dir":"a2c","frame":[{"id":1,"result":1}]}`), []byte(`[{"id":1,"method":"x"},{"id":2}]`), uint8(1))
	f.Add([]byte(`{"dir":"c2a","frame":[{"id":1,"method":"x"},{"id":1,"method":"x"}]}`+"\n"+`{"dir":"a2c","frame":[{"id":1,"result":1},{"id":1,"result":1}]}`), []byte(`[{"id":1,"method":"x"},{"id":2,"method":"x"}]`), uint8(2))
	f.Fuzz(func(t *testing.T, file, client []byte, match uint8) {
		tape, err := record.ReadPortable(bytes.NewReader(file), "fuzz")
		if err != nil {
			return
		}
		if info, err := tape.Info(); err != nil || info.Lines == 0 {
			return
		}
		var outs [2]bytes.Buffer
		for i := range outs {
			agent := replay.Agent{Tapes: []*record.Tape{tape}, Matching: replay.Matching(match % 3), Cwd: "/"}
			done := make(chan error, 1)
			go func() {
				_, err := agent.Run(t.Context(), bytes.NewReader(client), &outs[i], io.Discard)
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil && !errors.Is(err, replay.ErrDiverged) {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it does not end")
			}
		}
		if !bytes.Equal(outs[0].Bytes(), outs[1].Bytes()) {
			t.Errorf("twice the same gave\n%s\nand\n%s", &outs[0], &outs[1])
		}
	})
}
