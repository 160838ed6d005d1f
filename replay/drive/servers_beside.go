package drive

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
)

// Beside returns the tapes of servers that are beside the file of an agent's tape: the
// absolute paths of NAME.mcp.SERVER.jsonl beside NAME.jsonl, which is how acptap export
// --mcp names them. A tape whose head names its parent must belong to that agent's tape; if
// a server was started several times for one link, Beside returns the tape of the first
// start. For other tapes, such as those written by hand, the file name says which server it
// is.
func Beside(path string, t *record.Tape) (Nested, error) {
	n := Nested{ByLink: map[string]string{}, ByName: map[string]string{}}
	path, err := filepath.Abs(path)
	if err != nil {
		return n, err
	}
	dir, base := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".jsonl")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return n, err
	}
	began := map[string]time.Time{}
	for _, e := range entries {
		server, ok := portable.ServerInFile(base, e.Name())
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		tape, err := record.OpenFile(path)
		if err != nil {
			return n, err
		}
		info, err := tape.Info()
		if err != nil {
			return n, err
		}
		parent := info.Start.Parent
		before, known := began[parent.Link]
		switch {
		case parent.Tape == "":
			n.ByName[server] = path
		case parent.Tape == t.ID() && (!known || info.Start.Time.Before(before)):
			n.ByLink[parent.Link], began[parent.Link] = path, info.Start.Time
		}
	}
	return n, nil
}
