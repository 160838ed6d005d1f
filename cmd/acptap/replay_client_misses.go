package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/replay"
)

// A missWriter appends misses to a file, each as a JSON string on a line. It does not
// buffer, because an agent may kill its servers.
type missWriter struct{ *os.File }

func newMissWriter(path string) (missWriter, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return missWriter{f}, err
}

func (w missWriter) write(m replay.Miss) {
	cli.WriteJSON(w, m.String()) // ignore the error: the report of the process includes the miss, too
}

// serverMisses are the files that processes replaying MCP servers write their misses to.
type serverMisses struct {
	dir     string
	servers []string // server names; the index is the file's name
}

func newServerMisses() (*serverMisses, error) {
	dir, err := os.MkdirTemp("", "acptap-misses-")
	return &serverMisses{dir: dir}, err
}

// file returns the path of a new file for one start of a server.
func (s *serverMisses) file(server string) string {
	s.servers = append(s.servers, server)
	return s.path(len(s.servers) - 1)
}

func (s *serverMisses) path(n int) string { return filepath.Join(s.dir, strconv.Itoa(n)) }

// close returns the misses in the order of the starts, and removes the files.
func (s *serverMisses) close() (notes []string) {
	for n, server := range s.servers {
		list, err := readMisses(s.path(n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // no file: the agent did not start the server
			notes = append(notes, err.Error())
		}
		for _, miss := range list {
			notes = append(notes, serverNote(server, miss))
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		notes = append(notes, err.Error())
	}
	return notes
}

func readMisses(path string) (list []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20) // a miss is a few lines of text
	for lines.Scan() {
		var miss string
		if json.Unmarshal(lines.Bytes(), &miss) == nil { // otherwise the process was killed while writing
			list = append(list, miss)
		}
	}
	return list, lines.Err()
}

func serverNote(server, text string) string { return "MCP server " + server + ": " + text }
