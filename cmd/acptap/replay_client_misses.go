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

// A missWriter appends misses to a file, each as a JSON string on a line: at once, since an
// agent may kill its servers.
type missWriter struct{ *os.File }

func newMissWriter(path string) (missWriter, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return missWriter{f}, err
}

func (w missWriter) write(m replay.Miss) {
	cli.WriteJSON(w, m.String()) // the report of the process has it too
}

// serverMisses are the files to which the processes write that play tapes of MCP servers.
type serverMisses struct {
	dir     string
	servers []string // by the number that is the name of a file
}

func newServerMisses() (*serverMisses, error) {
	dir, err := os.MkdirTemp("", "acptap-misses-")
	return &serverMisses{dir: dir}, err
}

// file returns the path of a file for one start of a server.
func (s *serverMisses) file(server string) string {
	s.servers = append(s.servers, server)
	return s.path(len(s.servers) - 1)
}

func (s *serverMisses) path(n int) string { return filepath.Join(s.dir, strconv.Itoa(n)) }

// close returns what was written, in the order of the starts, and removes the files.
func (s *serverMisses) close() (notes []string) {
	for n, server := range s.servers {
		list, err := readMisses(s.path(n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the agent has not started that one
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
	lines.Buffer(nil, 1<<20) // a miss has a few lines of text
	for lines.Scan() {
		var miss string
		if json.Unmarshal(lines.Bytes(), &miss) == nil { // else the process was killed as it wrote
			list = append(list, miss)
		}
	}
	return list, lines.Err()
}

func serverNote(server, text string) string { return "MCP server " + server + ": " + text }
