package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
)

// runs runs acptap in a store.
func runs(t *testing.T, store string, args ...string) (status int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), append([]string{"--store", store}, args...), strings.NewReader(""), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// stored returns a store with tapes of which the spans are tested.
func stored(t *testing.T) (store string) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "store")
	if status, _, complaints := runs(t, store, "import", "../../record/trace/spans/testdata"); status != 0 {
		t.Fatal(complaints)
	}
	return store
}

// exported returns the spans that export --format otlp writes for all tapes, each once.
func exported(t *testing.T, store string) map[collectortest.ID]int {
	t.Helper()
	_, list, _ := runs(t, store, "ls", "--json")
	all := map[collectortest.ID]int{}
	for line := range strings.Lines(list) {
		var tape struct{ Tape string }
		if err := json.Unmarshal([]byte(line), &tape); err != nil {
			t.Fatal(err)
		}
		_, text, _ := runs(t, store, "export", "--format", "otlp", tape.Tape)
		for _, ids := range regexp.MustCompile(`\{"traceId":"([0-9a-f]{32})","spanId":"([0-9a-f]{16})","(?:parentSpanId|flags|name)"`).FindAllStringSubmatch(text, -1) {
			all[collectortest.HexID(t, ids[1], ids[2])] = 1
		}
	}
	return all
}

// ofRecord finds the tape and the frame in a record of OTLP/JSON.
var ofRecord = regexp.MustCompile(`"acptap.tape","value":\{"stringValue":"([^"]+)"\}\},\{"key":"acptap.frame","value":\{"intValue":"(\d+)"`)

// exportedFrames returns the frames that export --signals logs writes for all tapes.
func exportedFrames(t *testing.T, store string) map[string]bool {
	t.Helper()
	_, list, _ := runs(t, store, "ls", "--json")
	all := map[string]bool{}
	for line := range strings.Lines(list) {
		var tape struct{ Tape string }
		if err := json.Unmarshal([]byte(line), &tape); err != nil {
			t.Fatal(err)
		}
		_, text, _ := runs(t, store, "export", "--format", "otlp", "--signals", "logs", tape.Tape)
		for _, of := range ofRecord.FindAllStringSubmatch(text, -1) {
			all[of[1]+" "+of[2]] = true
		}
	}
	return all
}

// shippedFrames returns the frames that have arrived.
func shippedFrames(c *collectortest.Collector) map[string]bool {
	all := map[string]bool{}
	for _, r := range c.Records() {
		about := map[string]*common.AnyValue{}
		for _, a := range r.Attributes {
			about[a.Key] = a.Value
		}
		all[fmt.Sprint(about["acptap.tape"].GetStringValue(), " ", about["acptap.frame"].GetIntValue())] = true
	}
	return all
}

// TestShip: exports arrive once, and are reported.
func TestShip(t *testing.T) {
	store, c := stored(t), collectortest.New(t)
	want := exported(t, store)
	status, out, complaints := runs(t, store, "ship", "--dry-run", "--otlp="+c.URL)
	if status != 0 || complaints != "" || !strings.Contains(out, "would send ") || len(c.Requests()) > 0 {
		t.Errorf("got %d\n%s%s", status, out, complaints)
	}
	if _, err := os.Stat(filepath.Join(store, "ship")); err == nil {
		t.Error("--dry-run keeps something")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	for range 2 {
		if status, _, complaints := runs(t, store, "ship"); status != 0 || complaints != "" {
			t.Errorf("got %d, %s", status, complaints)
		}
		if got := c.Times(); !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("got %d spans, want %d", len(got), len(want))
		}
	}
	if status, out, complaints := runs(t, store, "ship", "--json", "last"); status != 0 ||
		out != `{"event":"done","destination":"`+c.URL+`/v1/traces","tapes":0,"turns":0,"spans":0,"refused":0}`+"\n" {
		t.Errorf("got %d, %s%s", status, out, complaints)
	}
	if _, out, _ := runs(t, store, "ship", "--status"); out != c.URL+"/v1/traces\n  all has arrived\n" {
		t.Errorf("got %s", out)
	}
	if _, out, _ := runs(t, store, "doctor"); !strings.Contains(out, "\nok   "+c.URL+"/v1/traces: all has arrived\n") {
		t.Errorf("got %s", out)
	}
	before := len(c.Requests())
	t.Setenv("OTEL_SDK_DISABLED", "true")
	if status, _, complaints := runs(t, store, "ship", "--again"); status != 0 || complaints != "acptap: OTEL_SDK_DISABLED is true: nothing is sent\n" || len(c.Requests()) > before {
		t.Errorf("got %d, %s", status, complaints)
	}
}

// TestShipRefusals: answers of one kind are one line with their number, whatever ids they
// have.
func TestShipRefusals(t *testing.T) {
	store, c := stored(t), collectortest.New(t)
	c.Fail(func(n int, w http.ResponseWriter, _ *http.Request) bool {
		text := fmt.Sprintf("request %08x-77aa is too old", 0xbeef*n)
		if n == 2 {
			text = "no room"
		}
		http.Error(w, text, http.StatusBadRequest)
		return true
	})
	status, out, complaints := runs(t, store, "ship", "--otlp="+c.URL)
	want := regexp.MustCompile(`^acptap: (\d+) of (\d+) spans of \d+ tapes refused: \S+ answered 400 Bad Request: request 0000beef-77aa is too old \(\d+ answers\)\n` +
		`acptap: (\d+) of (\d+) spans? of tape \S+ refused: \S+ answered 400 Bad Request: no room\n$`)
	m := want.FindStringSubmatch(complaints)
	if status != 1 || m == nil || m[1] != m[2] || m[3] != m[4] {
		t.Fatalf("got %d, %s%s", status, out, complaints)
	}
	few, _ := strconv.Atoi(m[1])
	rest, _ := strconv.Atoi(m[3])
	if all := len(exported(t, store)); few+rest != all || !strings.Contains(out, fmt.Sprintf("which refused %d of them", all)) {
		t.Errorf("%d and %d of %d spans refused: %s", few, rest, all, out)
	}
}

// TestShipToAnything: what answers yes to everything has taken nothing.
func TestShipToAnything(t *testing.T) {
	store, c := stored(t), collectortest.New(t)
	c.Fail(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		io.WriteString(w, "<html>Log in</html>")
		return true
	})
	status, out, complaints := runs(t, store, "ship", "--otlp="+c.URL)
	if status != 2 || !strings.HasPrefix(out, "sent 0 tapes") || !strings.Contains(complaints, `answered 200 OK, but with the Content-Type "text/html"`) {
		t.Errorf("got %d, %s%s", status, out, complaints)
	}
	c.Fail(nil)
	if status, _, complaints := runs(t, store, "ship", "--otlp="+c.URL); status != 0 || complaints != "" {
		t.Errorf("got %d, %s", status, complaints)
	}
	if got, want := c.Times(), exported(t, store); !maps.Equal(got, want) {
		t.Errorf("got %d spans, want %d", len(got), len(want))
	}
}

// TestShipStatus: exit statuses, and which messages go where.
func TestShipStatus(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20swordfish")
	store, c := stored(t), collectortest.New(t)
	fail := func(status int, body string) {
		c.Fail(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, body, status)
			return true
		})
	}
	fail(http.StatusUnauthorized, "not swordfish")
	status, out, complaints := runs(t, store, "ship", "--otlp="+c.URL)
	if want := "acptap: " + c.URL + "/v1/traces answered 401 Unauthorized: not [redacted]\n"; status != 2 || complaints != want {
		t.Errorf("got %d, %s%s", status, out, complaints)
	}
	if _, out, _ := runs(t, store, "ship", "--status"); !regexp.MustCompile(`\n  \d+ tapes with \d+ turns not yet sent, the oldest ended .* ago\n  since .*: .* 401`).MatchString(out) {
		t.Errorf("got %s", out)
	}
	if status, out, _ := runs(t, store, "doctor"); status != 1 || !strings.Contains(out, "turns not yet sent") || !strings.Contains(out, "to give it up, remove "+store) {
		t.Errorf("got %d, %s", status, out)
	}
	fail(http.StatusBadRequest, "swordfish is \x1b[2Jno fish")
	status, out, complaints = runs(t, store, "ship", "--otlp="+c.URL)
	if status != 1 || !strings.Contains(complaints, "400 Bad Request: [redacted] is no fish") || !strings.Contains(out, "which refused") {
		t.Errorf("got %d, %s%s", status, out, complaints)
	}
	_, inJSON, _ := runs(t, store, "ship", "--status", "--json")
	if _, text, _ := runs(t, store, "ship", "--status"); !strings.Contains(text, "refused for good; at last:") || strings.Contains(inJSON+text+out+complaints, "swordfish") {
		t.Errorf("got %s%s", text, inJSON)
	}
	c.Fail(nil)
	if status, _, complaints := runs(t, store, "ship", "--again", "--otlp="+c.URL); status != 0 {
		t.Errorf("got %d, %s", status, complaints)
	}
	if status, out, _ := runs(t, store, "doctor"); status != 0 {
		t.Errorf("got %d, %s", status, out)
	}
	if _, out, _ := runs(t, store, "ship", "--status", "--otlp=http://me:hush@localhost:9?key=hush"); out != "http://localhost:9/v1/traces\n  0 tapes arrived\n" {
		t.Errorf("got %s", out)
	}
	if status, _, complaints := runs(t, store, "ship", "--otlp", "http://me:hush@localhost:9"); status != 2 || strings.Contains(complaints, "hush") {
		t.Errorf("got %d, %s", status, complaints)
	}
	for _, args := range [][]string{
		{"--otlp=localhost:4318"}, {"--all", "last"}, {"--since", "soon"}, {"--all", "--since", "7d"}, {"--follow", "--dry-run"}, {"--until-idle"}, {"nothing"}, {"--otlp", c.URL},
		{"--signals", "traces,profiles"}, {"--signals="},
	} {
		if status, _, complaints := runs(t, store, append([]string{"ship"}, args...)...); status != 2 || complaints == "" {
			t.Errorf("%v: got %d, %s", args, status, complaints)
		}
	}
}

// TestShipContent: nothing that was said is sent unless it is asked for.
func TestShipContent(t *testing.T) {
	store, c := t.TempDir(), collectortest.New(t)
	if out, err := exec.Command("acptap", "--store", store, "demo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, tape, _ := runs(t, store, "export", "last~1")
	said := map[string]bool{}
	for _, text := range regexp.MustCompile(`"(?:text|title|path|cwd|command|content|oldText|newText|output|query|pattern)":"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(tape, -1) {
		for _, word := range regexp.MustCompile(`[A-Za-z_/.]{6,}`).FindAllString(text[1], -1) {
			said[word] = true
		}
	}
	delete(said, "cancelled") // also a reason to end
	if len(said) < 20 {
		t.Fatalf("little was said: %v", said)
	}
	sent := func(args ...string) (words []string) {
		if status, _, complaints := runs(t, store, append([]string{"ship", "--again", "--otlp=" + c.URL}, args...)...); status != 0 {
			t.Fatal(complaints)
		}
		values := strings.Join(c.Values(), "\n")
		for word := range said {
			if strings.Contains(values, word) {
				words = append(words, word)
			}
		}
		return words
	}
	if words := sent("--signals=traces,metrics,logs"); len(words) > 0 || len(c.Points()) == 0 || len(c.Records()) == 0 {
		t.Errorf("%q were sent", words)
	}
	if words := sent("--content"); len(words) < len(said)/2 {
		t.Errorf("with --content, %d of %d words were sent", len(words), len(said))
	}
}

// TestShipKilled: whenever a shipper is killed, all arrives in the end, and nothing else.
func TestShipKilled(t *testing.T) {
	n := 25
	if testing.Short() {
		n = 5
	}
	store, c := stored(t), collectortest.New(t)
	want := exported(t, store)
	for range n {
		cmd := exec.Command("acptap", "--store", store, "ship", "--follow", "--all", "--signals=traces,logs", "--otlp="+c.URL)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(rand.IntN(40))*time.Millisecond, func() { cmd.Process.Kill() })
		cmd.Wait()
	}
	if out, err := exec.Command("acptap", "--store", store, "ship", "--signals=traces,logs", "--otlp="+c.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := shippedFrames(c), exportedFrames(t, store); !maps.Equal(got, want) || len(want) < 50 {
		t.Errorf("got %d frames, want %d", len(got), len(want))
	}
	got := c.Times()
	for id, n := range got {
		got[id] = min(n, 1)
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %d spans, want %d", len(got), len(want))
	}
}
