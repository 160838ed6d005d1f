package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/front"
)

// A serverReplay is the parsed --mcp of acptap replay client: which MCP servers AGENT gets.
type serverReplay struct {
	on    bool     // replace servers by their tapes
	alone []string // names of the servers to keep
}

// parseServerReplay parses off, or replay and any number of ,not:NAME.
func parseServerReplay(text string) (r serverReplay, err error) {
	if text == "off" {
		return r, nil
	}
	words := strings.Split(text, ",")
	r.on = words[0] == "replay"
	for _, word := range words[1:] {
		name, ok := strings.CutPrefix(word, "not:")
		r.on = r.on && ok && name != ""
		r.alone = append(r.alone, name)
	}
	if !r.on {
		return r, fmt.Errorf("--mcp is replay, replay,not:NAME or off, not %q", text)
	}
	return r, nil
}

// play replaces AGENT's MCP servers with replayed tapes. The tapes are in the store in
// dir, or next to file if the client's tape is a file. play returns an error if a server
// to replace has no tape, or if r names a server that is not on the client's tape. After
// the client has been played, call end: it returns what AGENT requested that is not on
// the tapes. Further calls of end do nothing.
func (r serverReplay) play(dir, file string, client *drive.Client, stderr io.Writer) (end func() []string, err error) {
	acptap, err := cli.Acptap.Self(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return nil, err
	}
	store, err := ref.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	servers, err := drive.ReadServers(client.Tapes, client.Session, func(t *record.Tape) (drive.Nested, error) {
		if file != "" {
			return drive.Beside(file, t)
		}
		return serverTapes(store, t)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range r.alone {
		if names := servers.Names(); !slices.Contains(names, name) {
			return nil, errors.New(termtext.Line(noServer(name, names)))
		}
	}
	missing := slices.DeleteFunc(servers.Missing(), func(name string) bool { return slices.Contains(r.alone, name) })
	if len(missing) > 0 {
		return nil, errors.New(termtext.Line(noTape(missing)))
	}
	next := func(name string) string {
		if slices.Contains(r.alone, name) {
			return ""
		}
		return servers.Next(name)
	}
	misses, err := newServerMisses()
	if err != nil {
		return nil, err
	}
	fronts := &serverFronts{store: store, stderr: stderr}
	client.Interceptors = []proxy.Interceptor{&nest.Substitute{
		Command: func(name string) []string {
			tape := next(name)
			if tape == "" {
				return nil
			}
			return []string{acptap, "replay", "agent", "--store", store.Dir(), "--misses-to", misses.file(name), tape}
		},
		URL: func(name string) string { return fronts.url(name, next(name)) },
	}}
	return sync.OnceValue(func() []string { return append(misses.close(), fronts.close()...) }), nil
}

// noServer says that the client on the tape configured no server called name, and lists
// those it did.
func noServer(name string, others []string) string {
	text := fmt.Sprintf("--mcp=replay,not:%s: the client on the tape gave no MCP server %q", name, name)
	if len(others) > 0 {
		text += ", but " + strings.Join(others, ", ")
	}
	return text
}

// noTape says that servers have no tapes, and what to do about it.
func noTape(servers []string) string {
	what, real := "MCP server "+servers[0]+" has no tape", "one"
	if len(servers) > 1 {
		what, real = "MCP servers "+strings.Join(servers, ", ")+" have no tapes", "ones"
	}
	return fmt.Sprintf("--mcp=replay: %s: acptap proxy --mcp records them, and acptap export --mcp writes them beside the agent's; --mcp=replay,not:%s gives AGENT the real %s",
		what, strings.Join(servers, ",not:"), real)
}

// serverTapes returns the tapes of the servers that the agent on a tape of the store
// started. If a server was started several times for one link, it returns only the first of
// its tapes.
func serverTapes(store *record.Store, agent *record.Tape) (drive.Nested, error) {
	sub := ref.Subject{Store: store, Parts: []ref.Part{{Tape: agent}}}
	r, err := sub.Reader(false, sub.Parts...)
	if err != nil {
		return drive.Nested{}, err
	}
	tapes := map[string]string{}
	for _, server := range r.Servers() {
		if link := server.Info.Start.Parent.Link; tapes[link] == "" {
			tapes[link] = server.Info.Tape
		}
	}
	return drive.Nested{ByLink: tapes}, nil
}

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

// serverMisses holds the files to which processes replaying MCP servers write their
// misses.
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

// serverFronts replays MCP servers to an agent that reaches them by URL.
type serverFronts struct {
	store  *record.Store
	stderr io.Writer
	open   []func() // each ends one front and notes its misses
	notes  []string // misses and errors
}

// url starts playing a tape and returns its URL, or "" if tape is "". If the tape cannot be
// played, url notes that and returns a URL where nothing answers, because AGENT must not
// reach the real server.
func (s *serverFronts) url(server, tape string) string {
	if tape == "" {
		return ""
	}
	u, err := s.play(server, tape)
	if err != nil {
		s.note(server, "the tape cannot be played: "+err.Error())
		return "http://127.0.0.1:9/" // discard (RFC 863)
	}
	return u
}

func (s *serverFronts) play(server, tape string) (string, error) {
	if v := otherProxy(os.Getenv); v != "" {
		return "", fmt.Errorf("AGENT would look for it behind %s; with NO_PROXY=127.0.0.1 it does not", v)
	}
	sub, err := ref.Resolve(s.store.Dir(), tape, nil)
	if err != nil {
		return "", err
	}
	fr, err := front.New(replay.Agent{Tapes: sub.Tapes(), Partial: true})
	if err != nil {
		return "", err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	errOut, flush := cli.Sanitized(s.stderr)
	fr.Address, fr.Stderr = &url.URL{Scheme: "http", Host: ln.Addr().String()}, &lockedWriter{w: errOut}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, fr) }()
	s.open = append(s.open, func() {
		stop()
		if err := <-served; err != nil {
			s.note(server, err.Error())
		}
		results := fr.Close()
		flush()
		for _, r := range results {
			for _, miss := range r.Report.Misses {
				s.note(server, miss.String())
			}
			if r.Err != nil && !errors.Is(r.Err, replay.ErrDiverged) {
				s.note(server, r.Err.Error())
			}
		}
	})
	return fr.Address.JoinPath(fr.Path()).String(), nil
}

func (s *serverFronts) note(server, text string) { s.notes = append(s.notes, serverNote(server, text)) }

// close ends all fronts and returns their notes.
func (s *serverFronts) close() []string {
	for _, end := range s.open {
		end()
	}
	return s.notes
}
