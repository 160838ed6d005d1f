package settings_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// FuzzWrap: whatever the settings, wrapping changes nothing outside the entry, and
// unwrapping gives the same bytes.
func FuzzWrap(f *testing.F) {
	for _, s := range samples() {
		if len(s.text) < 1<<12 {
			f.Add(s.client, s.text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		c, err := settings.Find(name)
		if err != nil || !c.IsFile() || !utf8.ValidString(text) || len(text) > 1<<14 {
			return
		}
		s := setup(t)
		path := filepath.Join(s.Machine.Home, "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := s.Entries(c, path)
		if err != nil {
			return
		}
		before := meaning(t, text)
		for _, e := range entries {
			if e.State != settings.Plain {
				continue
			}
			if _, err := try(s, func() (*settings.Change, error) { return s.Wrap(c, path, []string{e.Name}, false) }); err != nil {
				if strings.Contains(err.Error(), "please report") || read(t, path) != text {
					t.Fatalf("%v in %q", err, read(t, path))
				}
				continue
			}
			after := meaning(t, read(t, path))
			for i, other := range entries {
				now, err := s.Entries(c, path)
				if err != nil {
					t.Fatal(err)
				}
				if other.Name != e.Name && !reflect.DeepEqual(plain(now[i]), plain(other)) {
					t.Errorf("%q became %+v, it was %+v", other.Name, now[i], other)
				}
			}
			if a, b := outside(before), outside(after); !reflect.DeepEqual(a, b) {
				t.Errorf("wrapping %q in %q changes\n%v\nto\n%v", e.Name, text, a, b)
			}
			if _, err := try(s, func() (*settings.Change, error) { return s.Unwrap(c, path, []string{e.Name}, false) }); err != nil || read(t, path) != text {
				t.Fatalf("unwrapped %q: %v, got\n%q\nwant\n%q", e.Name, err, read(t, path), text)
			}
		}
	})
}

// plain returns an entry without its position.
func plain(e settings.Entry) [4]string {
	return [4]string{e.Name, string(e.State), strings.Join(e.Agent, "\x00"), e.Why}
}

// outside returns what settings say but for commands.
func outside(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			if name != "command" && name != "args" && name != "argv" && name != "path" {
				out[name] = outside(inner)
			}
		}
		return out
	case []any:
		return len(v)
	}
	return v
}
