package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// storage starts object storage with the bucket tapes, which front may take requests from.
func storage(t *testing.T, front func(http.Handler) http.Handler) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("tapes"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(front(gofakes3.New(backend).Server()))
	t.Cleanup(s.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-hush-hush"} {
		t.Setenv(name, value)
	}
}

func openly(h http.Handler) http.Handler { return h }

// must runs acptap, and returns its output; its exit status must be want.
func must(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	if status := run(t.Context(), args, strings.NewReader(""), &out, &complaints); status != want {
		t.Fatalf("acptap %q: status %d, want %d\n%s%s", args, status, want, out.String(), complaints.String())
	}
	return out.String(), complaints.String()
}

// A tape that was pushed and pulled is the export, and an agent of it answers its client.
func TestPushPull(t *testing.T) {
	storage(t, openly)
	here, there := t.TempDir(), t.TempDir()
	tapes, _ := filepath.Glob("../../testdata/tapes/acp*.jsonl")
	must(t, 0, append([]string{"import", "--store", here}, tapes...)...)
	out, _ := must(t, 0, "push", "--store", here, "--all", "s3://tapes/team")
	if n := strings.Count(out, "s3://tapes/team/v1/"); n != len(tapes) || n < 5 {
		t.Errorf("%d of %d tapes pushed:\n%s", n, len(tapes), out)
	}
	if out, complaints := must(t, 0, "push", "--store", here, "--all", "--json", "s3://tapes/team"); out+complaints != "" {
		t.Errorf("again: %s%s", out, complaints)
	}
	if out, complaints := must(t, 0, "push", "--store", here, "--all", "s3://tapes/team"); out != "" || complaints != fmt.Sprintf("acptap: nothing new: %d tapes there already\n", len(tapes)) {
		t.Errorf("again, for people: %s%s", out, complaints)
	}
	out, _ = must(t, 0, "pull", "--store", there, "s3://tapes/team")
	pulled := strings.Fields(out)
	if len(pulled) != len(tapes) {
		t.Errorf("%d of %d tapes pulled", len(pulled), len(tapes))
	}
	for _, tape := range pulled {
		got, _ := must(t, 0, "export", "--store", there, tape)
		if want, _ := must(t, 0, "export", "--store", here, tape); got != want {
			t.Errorf("%s: pulled\n%.500s\nwant\n%.500s", tape, got, want)
		}
	}
	must(t, 0, "replay", "client", "--store", there, pulled[0], "--", "acptap", "replay", "agent", "--store", there, pulled[0])
	if out, complaints := must(t, 0, "pull", "--store", there, "s3://tapes/team"); out != "" || complaints != "acptap: nothing new: the store has every tape that was asked for\n" {
		t.Errorf("pull again: %s%s", out, complaints)
	}

	one := pulled[len(pulled)-1]
	out, _ = must(t, 0, "push", "--store", there, "--json", "s3://tapes/team", one)
	var line struct {
		Tape, Object string
		Bytes        int64
		New          bool
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil || line.Tape != one || line.New || line.Bytes < 100 || !strings.Contains(line.Object, one) {
		t.Errorf("from the other store: %s, %v", out, err)
	}
	must(t, 0, "rm", "--store", there, one)
	out, _ = must(t, 0, "pull", "--store", there, "--json", "s3://tapes/team", one)
	if want := `{"tape":"` + one + `","object":"` + line.Object + "\"}\n"; out != want {
		t.Errorf("got %s, want %s", out, want)
	}
}

// A tape that is being recorded is not pushed before it has ended.
func TestPushLive(t *testing.T) {
	storage(t, openly)
	dir := t.TempDir()
	tape := recordtest.Record(t, record.OpenStore(dir), record.Start{Command: []string{"agent"}})
	tape.Append(wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`+"\n"))
	if out, complaints := must(t, 0, "--store", dir, "push", "--all", "s3://tapes"); out != "" || complaints != "acptap: nothing to push: no tape that has ended was chosen\n" {
		t.Errorf("pushed: %s%s", out, complaints)
	}
	if _, complaints := must(t, 2, "--store", dir, "push", "s3://tapes"); !strings.Contains(complaints, "still being recorded; push it when it has ended") {
		t.Error(complaints)
	}
	tape.Close()
	tape.Wait()
	if out, _ := must(t, 0, "--store", dir, "push", "--all", "s3://tapes"); strings.Count(out, "s3://tapes/v1/agent-") != 1 {
		t.Errorf("it has ended: %s", out)
	}
}

// Failures of push and pull are reported, with status 2.
func TestPushPullMistakes(t *testing.T) {
	storage(t, openly)
	store := t.TempDir()
	must(t, 0, "import", "--store", store, "../../testdata/tapes/acp-go-sdk.jsonl")
	for _, tt := range []struct{ args, want string }{
		{"push", "an argument is missing; usage: acptap push"},
		{"push --all s3://tapes last", `"last" is one argument too many`},
		{"push s3://tapes nothing", "nothing"},
		{"push s3://tapes ../../testdata/tapes/acp-go-sdk.jsonl", "is a file: acptap import"},
		{"push --raw s3://tapes", "?raw=1"},
		{"push file:///tapes", "s3://BUCKET/PREFIX"},
		{"push s3://other", "s3://other at http://127.0.0.1:"},
		{"pull s3://other", "there is no such bucket"},
		{"pull s3://tapes --since yesterday", `"yesterday" is neither`},
		{"pull s3://tapes nothing", `"nothing": no such tape`},
		{"pull s3://tapes?key=hush", `no parameter "key"`},
	} {
		_, complaints := must(t, 2, append([]string{"--store", store}, strings.Fields(tt.args)...)...)
		if !strings.HasPrefix(complaints, "acptap: ") || !strings.Contains(complaints, tt.want) || strings.Contains(complaints, "hush") {
			t.Errorf("%s: %s", tt.args, complaints)
		}
	}
	must(t, 0, "--store", store, "push", "--raw", "s3://tapes?raw=1")
}

// If acptap is asked to end, it makes acptap-lake end, and the next run continues interrupted
// work.
func TestPushPullEnded(t *testing.T) {
	const after = 2 // number of requests that are answered
	for _, tt := range []struct {
		command string
		signal  syscall.Signal
	}{{"push", syscall.SIGINT}, {"push", syscall.SIGKILL}, {"pull", syscall.SIGTERM}, {"pull", syscall.SIGKILL}} {
		t.Run(tt.command+" "+tt.signal.String(), func(t *testing.T) {
			reached := make(chan bool, 100)
			left := make(chan bool, 100)
			var holds atomic.Bool
			storage(t, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-left:
					default:
						if holds.Load() {
							io.Copy(io.Discard, r.Body)
							reached <- true
							<-r.Context().Done()
							return
						}
					}
					h.ServeHTTP(w, r)
				})
			})
			from, to := t.TempDir(), t.TempDir()
			tapes, _ := filepath.Glob("../../testdata/tapes/acp*.jsonl")
			must(t, 0, append([]string{"import", "--store", from}, tapes...)...)
			args := []string{"push", "--store", from, "--all", "s3://tapes"}
			if tt.command == "pull" {
				must(t, 0, args...)
				args = []string{"pull", "--store", to, "s3://tapes"}
			}
			for range after {
				left <- true
			}
			holds.Store(true)
			program := "acptap"
			if tt.signal == syscall.SIGKILL {
				program = "acptap-lake" // acptap itself holds nothing
			}
			c := exec.Command(program, args...)
			var complaints bytes.Buffer
			c.Stderr = &complaints
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			c.Process.Signal(tt.signal)
			c.Wait()
			if tt.signal != syscall.SIGKILL && (c.ProcessState.ExitCode() != 2 || complaints.String() != "acptap: interrupted\n") {
				t.Errorf("%v: %s", c.ProcessState, complaints.String())
			}
			holds.Store(false)
			must(t, 0, args...)
			must(t, 0, "pull", "--store", to, "s3://tapes")
			entries, err := os.ReadDir(filepath.Join(to, "tapes"))
			if err != nil || len(entries) != len(tapes) {
				t.Errorf("%d of %d tapes are pulled, %v", len(entries), len(tapes), err)
			}
		})
	}
}
