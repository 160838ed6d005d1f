//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// holdAt connects acptap ctl hold to a proxy that answers each method with a line, which may
// be more lines than one; ID in it is the number of the request.
func holdAt(t *testing.T, flags ctlFlags, out io.Writer, answers map[string]string) *ctl {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ctl")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for in := bufio.NewScanner(conn); in.Scan(); {
			var m struct {
				ID     int
				Method string
			}
			json.Unmarshal(in.Bytes(), &m)
			answer := answers[m.Method]
			if answer == "" {
				answer = `{"jsonrpc":"2.0","id":ID,"result":{}}`
			}
			io.WriteString(conn, strings.ReplaceAll(answer, "ID", fmt.Sprint(m.ID))+"\n")
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	x := &ctl{ctx: ctx, stop: stop, flags: &flags, out: out}
	if err := x.dial(path, true); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestHoldLost: after events were lost, acptap ctl hold asks what waits, so that it ends
// when all that it held is gone.
func TestHoldLost(t *testing.T) {
	const begun = `{"jsonrpc":"2.0","id":ID,"result":{}}
{"jsonrpc":"2.0","method":"held","params":{"held":{"id":1,"dir":"c2a","kind":"request","rule":"user-1","at":"2026-11-28T12:00:00Z","size":2}}}
{"jsonrpc":"2.0","method":"lost","params":{"count":3}}`
	for name, tt := range map[string]struct {
		held  string
		count int
		shown int
	}{
		"gone":       {`[]`, 1, 1},
		"never seen": {`[]`, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			x := holdAt(t, ctlFlags{count: tt.count}, &out, map[string]string{
				"hold":       begun,
				"held/list":  `{"jsonrpc":"2.0","id":ID,"result":{"held":` + tt.held + `}}`,
				"rules/list": `{"jsonrpc":"2.0","id":ID,"result":{"rules":[{"name":"user-1","rule":"x","hits":2,"own":true}]}}`,
			})
			defer x.close()
			if err := x.hold([]string{"kind:request"}); err != nil {
				t.Error(err)
			}
			if n := strings.Count(out.String(), "\n"); n != tt.shown {
				t.Errorf("it wrote %d frames:\n%s", n, &out)
			}
		})
	}
}

// noReader is a stdout whose reader has gone.
type noReader struct{}

func (noReader) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// TestHoldEndsInFlood: acptap ctl hold ends though events come faster than it reads them.
func TestHoldEndsInFlood(t *testing.T) {
	var flood strings.Builder
	flood.WriteString(`{"jsonrpc":"2.0","id":ID,"result":{}}`)
	for i := range 20_000 {
		fmt.Fprintf(&flood, "\n"+`{"jsonrpc":"2.0","method":"held","params":{"held":{"id":%d,"dir":"c2a","kind":"request","rule":"x","at":"2026-11-28T12:00:00Z","size":2}}}`, i+1)
	}
	x := holdAt(t, ctlFlags{}, noReader{}, map[string]string{"hold": flood.String()})
	if err := x.hold([]string{"kind:request"}); err == nil || err.Error() != "nobody reads" {
		t.Errorf("got %v", err)
	}
	x.close()
}
