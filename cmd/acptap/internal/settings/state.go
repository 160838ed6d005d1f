package settings

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/acptap/acptap/proxy/wire"
)

// Claude Code keeps the user's servers in its state file, which it rewrites while it runs.
// acptap only reads that file, and prints commands to change it.

// isState reports whether path is the client's state file.
func (s *Setup) isState(c *Client, path string) bool {
	state, ok := s.Machine.resolve(c.State)
	return ok && sameFile(state, path)
}

// inState returns the client as it is configured in path: its state file has entries for
// the current project and for all projects.
func (s *Setup) inState(c *Client, path string) *Client {
	if !s.isState(c, path) {
		return c
	}
	other := *c
	other.Lists = append([][]string{{"projects", s.Machine.Dir, "mcpServers"}}, c.Lists...)
	return &other
}

// byCommand returns an error with the commands that make the change.
func (s *Setup) byCommand(ch *Change) error {
	var b strings.Builder
	for _, st := range ch.Steps {
		if st.Did == DidNothing || st.Did == DidSkip {
			continue
		}
		e, err := s.entry(ch.doc, ch.Client, ch.file.Path, st.Entry)
		if err != nil {
			return err
		}
		scope := "user"
		if len(e.path) > 2 {
			scope = "local"
		}
		entry, err := ch.doc.plain(e.value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "claude mcp remove --scope %s %s\nclaude mcp add-json --scope %s %s %s\n",
			scope, shellWord(st.Entry), scope, shellWord(st.Entry), shellWord(entry))
	}
	if b.Len() == 0 {
		return fmt.Errorf("%s: there is nothing to do", s.Machine.Short(ch.file.Path))
	}
	return &PasteError{
		fmt.Errorf("%s is the state of Claude Code, which only that should write; nothing was changed; run these commands", s.Machine.Short(ch.file.Path)),
		b.String(),
	}
}

// plain returns a value on one line. Claude Code requires a type in these entries, but not
// in files.
func (d *document) plain(v *hujson.Value) (string, error) {
	var entry map[string]any
	standard, err := hujson.Standardize(d.of(v))
	if err == nil {
		err = json.Unmarshal(standard, &entry)
	}
	if err != nil {
		return "", err
	}
	if entry["type"] == nil {
		entry["type"] = "stdio"
	}
	return string(wire.Encode(entry)), nil
}
