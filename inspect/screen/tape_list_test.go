package screen_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// storeOf makes a store with tapes of testdata, and one whose file is damaged.
func storeOf(t *testing.T, files ...string) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	for _, file := range files {
		f, err := os.Open(filepath.Join(tapeDir, file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := store.Import(f, file, nil); err != nil {
			t.Fatal(err)
		}
	}
	damaged := filepath.Join(store.Dir(), "tapes", "20261121T110000-damage.db")
	if err := os.WriteFile(damaged, []byte(strings.Repeat("no bbolt file ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestStoreScreens shows a store with tapes and sessions.
func TestStoreScreens(t *testing.T) {
	store := storeOf(t, "acp-go-sdk.jsonl", "acp-npm-sdk.jsonl", "acp-v2.jsonl", "acpx-cancel.jsonl", "acpx-session.jsonl", "mcp-everything.jsonl", "mcp-tasks.jsonl")
	tests := []struct{ name, keys string }{
		{"store", ""},
		{"store-keys", "?"},
		{"store-filter", "/agent hello"},
		{"store-delete", "jj<^X>"},
	}
	for _, tt := range tests {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
			term.wait(t, "the tapes", has("Hello, agent!"))
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// TestStoreDamaged says why a tape cannot be opened, and goes on; so it does where
// the store itself cannot be read.
func TestStoreDamaged(t *testing.T) {
	t.Parallel()
	store := storeOf(t, "acp-go-sdk.jsonl")
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 80, 24)
	term.wait(t, "the tapes", has("Hello, agent!"))
	term.press(t, "<Enter>")
	term.wait(t, "why", func(s string) bool {
		s = strings.Join(strings.Fields(s), "")
		return strings.Contains(s, "damaged(invaliddatabase)") && strings.Contains(s, filepath.Base(store.Dir())+"/tapes/")
	})
	tapes := filepath.Join(store.Dir(), "tapes")
	if err := os.Rename(tapes, tapes+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tapes, []byte("no directory"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.wait(t, "what is wrong with the store", has("The store cannot be read: "))
	if err := errors.Join(os.Remove(tapes), os.Rename(tapes+"-away", tapes)); err != nil {
		t.Fatal(err)
	}
	term.wait(t, "the tapes again", has("Hello, agent!"))
}

// damagedTape returns a tape in a store, of which no block can be read.
func damagedTape(t *testing.T) (store *record.Store, id string) {
	t.Helper()
	store = record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(changed), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store.Dir(), "tapes", id+".db")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		zstd := bytes.Index(file[at:], []byte("\x28\xb5\x2f\xfd")) // RFC 8878, section 3.1.1
		if zstd < 0 {
			break
		}
		at += zstd + 20
		file[at] ^= 0xff
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return store, id
}

// TestDamaged says of all places of a tape that a part of it cannot be read.
func TestDamaged(t *testing.T) {
	store, id := damagedTape(t)
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", id), 100, 24)
	for key, sees := range map[string]string{"2": "", "3": "no conversation", "4": "no turns", "6": "Method", "7": "in what can be read"} {
		term.press(t, key)
		term.wait(t, "the damage in place "+key, func(s string) bool { return strings.Contains(s, sees) && strings.Contains(s, "a part cannot be read") })
	}
}

// TestDamagedExport exports what can be read, and says that it is not all.
func TestDamagedExport(t *testing.T) {
	t.Chdir(t.TempDir())
	store, id := damagedTape(t)
	whole, err := store.Import(strings.NewReader(changed), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", id, whole), 200, 24)
	term.wait(t, "the damage", has("a part cannot be read"))
	term.press(t, "X<^U>here.jsonl<Enter>")
	term.wait(t, "that a part is missing", has("frames written to here.jsonl, secrets redacted, but a part cannot be read: "))
	got, err := os.ReadFile("here.jsonl")
	if want := strings.Count(changed, `"frame":`); err != nil || strings.Count(string(got), `"frame":`) != want {
		t.Errorf("got %s and %v, want %d frames", got, err, want)
	}
}

// TestStoreGrows: the cursor stays on its line when a tape appears above it.
func TestStoreGrows(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	appear := func(day int) {
		t.Helper()
		text := fmt.Sprintf(`{"acptap":1,"started":"2026-11-%02dT10:00:00Z","command":["agent"],"cwd":"/day%d"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[]}}}
`, day, day, day)
		if _, err := store.Import(strings.NewReader(text), "tape", nil); err != nil {
			t.Fatal(err)
		}
	}
	appear(10)
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 24)
	term.wait(t, "the tape", has("/day10"))
	term.press(t, "«1 of 1»")
	appear(11)
	term.wait(t, "it further down", has("2 of 2"))
	term.press(t, "<Enter>2")
	term.wait(t, "its frames", has("session/prompt"))
	term.press(t, "1«2 of 2»g«1 of 2»")
	appear(12)
	term.wait(t, "the other one, further down", has("2 of 3"))
}

// TestLiveAgain shows a session that continues on a second tape: nothing on the first one
// counts as running any more.
func TestLiveAgain(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	const prompt = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}`
	first, err := store.Import(strings.NewReader(`{"acptap":1,"started":"2026-11-10T10:00:00Z"}`+"\n"+`{"dir":"c2a","frame":`+prompt+"}\n"), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	again := begin(t, store, "agent", "/w")
	defer again.ends()
	again.says(wire.ClientToAgent, prompt)
	ids, err := store.Tapes()
	if err != nil || len(ids) != 2 || ids[0] != first {
		t.Fatalf("got %v and %v", ids, err)
	}
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "s1", ids...), 120, 24)
	term.wait(t, "one that waits", func(s string) bool {
		return strings.Count(s, "no answer\n") == 1 && strings.Count(s, "waits ") == 1
	})
	for _, place := range []struct{ key, ended, running string }{{"3", "turn 1: recording cut off", "turn 2: running"}, {"4", "recording cut off · hello", "● running · hello"}} {
		term.press(t, place.key)
		term.wait(t, place.running, func(s string) bool {
			return strings.Count(s, place.ended) == 1 && strings.Count(s, place.running) == 1
		})
	}
}

// TestLive shows a tape that is being recorded from its first frame on until the
// proxy ends.
func TestLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 24)
	term.wait(t, "the empty store", has("There are no tapes"))
	live := begin(t, store, "/opt/bin/agent", "/w")
	term.wait(t, "the tape", func(s string) bool { return strings.Contains(s, "●") && strings.Contains(s, "/w") })
	term.press(t, "<Enter>")
	term.wait(t, "that nothing was said", has("Nothing has been said yet."))
	live.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}`)
	term.wait(t, "the request, and that it waits", func(s string) bool {
		return strings.Contains(s, "session/prompt") && strings.Contains(s, "waits ") && strings.Contains(s, "1 of 1 · following")
	})
	term.press(t, "3")
	term.wait(t, "the turn", has("── turn 1: running"))
	for i := range 40 {
		live.says(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Step %d","status":"completed"}}}`, i, i))
	}
	term.wait(t, "the end of the conversation, which is followed", has("Step 39"))
	term.press(t, "4")
	term.wait(t, "the timer", has("running"))
	term.press(t, "2")
	term.wait(t, "the last frame", has("41 of 41 · following"))
	term.press(t, "<Enter>")
	term.wait(t, "that the frame stays", func(s string) bool { return strings.Contains(s, "Esc back") && !strings.Contains(s, "following") })
	term.press(t, "<Esc>F")
	term.wait(t, "that it goes on", has("following"))
	term.press(t, "k«40 of 41»")
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`)
	term.wait(t, "the selection, which stays", func(s string) bool {
		return strings.Contains(s, "40 of 42") && !strings.Contains(s, "following")
	})
	term.press(t, "F")
	term.wait(t, "the last frame", has("42 of 42 · following"))
	live.Exit(7, nil, [wire.Directions]int64{})
	live.ends()
	term.wait(t, "how the agent ended", func(s string) bool {
		bar, _, _ := strings.Cut(s, "\n")
		return strings.Contains(bar, "exit 7") && strings.Contains(s, "agent exited with status 7")
	})
	term.press(t, "1")
	term.wait(t, "the same in the store", func(s string) bool { return strings.Contains(s, "exit 7") && !strings.Contains(s, "running") })
}

// TestStoreBadEnd: an end that is a failure is red in the store, as every failure.
func TestStoreBadEnd(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	for _, code := range []string{"0", "7"} {
		text := `{"acptap":1}` + "\n" + `{"dir":"a2c","exit":{"code":` + code + `}}` + "\n"
		if _, err := store.Import(strings.NewReader(text), code+".jsonl", nil); err != nil {
			t.Fatal(err)
		}
	}
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 80, 24)
	screen := term.wait(t, "both ends", func(s string) bool { return strings.Contains(s, "agent die") && strings.Contains(s, "✓") })
	hues := strings.Split(term.colours(), "\n")
	for y, line := range strings.Split(screen, "\n") {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "✗", "x"), "…", ".")
		for _, tt := range []struct{ state, want string }{{"agent die", "FFFFF FFF"}, {"done", "----"}} {
			if at := strings.Index(line, tt.state); at >= 0 && y > 2 && hues[y][at:at+len(tt.state)] != tt.want {
				t.Errorf("%s looks as %q, want %q", tt.state, hues[y][at:], tt.want)
			}
		}
	}
}

// TestTabsFit: all places have their names on the first line of 80 columns.
func TestTabsFit(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{Store: twoRuns(t)}, screen.Subject{}, 80, 24)
	term.wait(t, "the tapes", has("of 2"))
	term.press(t, "mGD«differences:»sagent<Enter>« 8 diff s search\n»")
	term.click(strings.Index(" 1 store 2 frames 3 chat 4 turns 5 6 7 findings 8 diff", "8"), 0)
	term.press(t, "«differences:»")
}

// TestStoreCursor: the cursor of the store is on the tape that was opened elsewhere, so
// that tags, notes and deleting are about that one.
func TestStoreCursor(t *testing.T) {
	t.Parallel()
	store := twoRuns(t)
	tapes, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	old := tapes[0]
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", old), 120, 24)
	term.reads(t)
	term.press(t, "1")
	term.wait(t, "the older tape", func(s string) bool { return strings.Contains(s, old) && strings.Contains(s, " 2 of 2") })
	term.press(t, "k2«session/prompt»1« 1 of 2»") // where the user has gone
}
