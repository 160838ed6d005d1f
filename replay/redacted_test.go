package replay_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A tape whose secrets were taken out is replayed to a client that has them.
func TestRedactedAgent(t *testing.T) {
	check := func(t *testing.T, tape *record.Tape) {
		info, err := tape.Info()
		if err != nil {
			t.Fatal(err)
		}
		without := replaytest.Redacted(t, tape)
		for _, match := range []replay.Matching{replay.MatchContent, replay.MatchExact} {
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{without}, Matching: match, Cwd: info.Start.Cwd}
			report, err := a.Run(t.Context(), bytes.NewReader(replaytest.Said(t, tape, wire.ClientToAgent)), &out, io.Discard)
			if err != nil || len(report.Notes) > 0 {
				t.Errorf("%v: %v\n%s", match, err, &report)
			}
			if want := replaytest.Said(t, without, wire.AgentToClient); !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%v: got %s\nwant %s", match, &out, want)
			}
		}
	}
	t.Run("secrets", func(t *testing.T) { check(t, replaytest.Tape(t, replaytest.Secrets)) })
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { check(t, replaytest.Open(t, path)) })
	}
}

// The text around a secret counts, and no miss reveals a secret.
func TestMissHidesSecrets(t *testing.T) {
	for _, tt := range []struct{ name, now, was, want string }{
		{"beside a secret", "log on with sk-ant-hush", "log in with sk-ant-hush", `"path":"prompt[0].text"`},
		{"another secret", "sk-ant-hush0123456789xxxxxxxxxx", "sk-ant-hush0123456789abcdefghij", `"path":"prompt[0].text"`},
		{"a secret by its name", `"apiKey":"hush-other"`, `"apiKey":"hush-key"`, `"path":"user.apiKey"`},
		{"a secret by a name with a dot", `"api.token":"hush-other"`, `"apiKey":"hush-key"`, `user["api.token"] is "[redacted]"`},
		{"of an answer", "hush-other", "hush-answer", `password is "[redacted]"`},
		{"no message", `{"password":"hush-junk"}`, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `a line came that is no message: {"password":"[redacted]"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tape := replaytest.Tape(t, replaytest.Secrets)
			says := strings.Replace(string(replaytest.Said(t, tape, wire.ClientToAgent)), tt.was, tt.now, 1)
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{tape}, Partial: true, Cwd: "/w/rec"}
			report, _ := a.Run(t.Context(), strings.NewReader(says), &out, io.Discard)
			said := report.String()
			for line := range strings.Lines(out.String()) {
				if strings.Contains(line, `"error"`) {
					said += line
				}
			}
			if strings.Contains(said, "hush") || !strings.Contains(said, tt.want) {
				t.Errorf("got %s\nwant %s", said, tt.want)
			}
		})
	}
	without := replaytest.Redacted(t, replaytest.Tape(t, replaytest.Secrets))
	says := strings.Replace(string(replaytest.Said(t, replaytest.Tape(t, replaytest.Secrets), wire.ClientToAgent)), "log in", "log on", 1)
	a := replay.Agent{Tapes: []*record.Tape{without}, Partial: true, Cwd: "/w/rec"}
	if report, err := a.Run(t.Context(), strings.NewReader(says), io.Discard, io.Discard); err == nil || len(report.Misses) != 2 { // and the answer to a request that was not recorded
		t.Errorf("another text around a secret: got %v\n%s", err, &report)
	}
}
