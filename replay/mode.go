package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A Mode says when a real agent is run and what becomes of the file, as cassettes
// have it (VCR).
type Mode uint8

// The modes.
const (
	ModeOnce Mode = iota // record if there is no file, else replay
	ModeNone             // replay
	ModeNew              // replay, and add the sessions that the file lacks, or the calls of MCP
	ModeAll              // record
)

var modeNames = [...]string{"once", "none", "new", "all"}

// ModeVariable is the environment variable that names the mode for those who
// cannot change the command, such as a build server that must not run agents.
const ModeVariable = "ACPTAP_MODE"

// String returns once, none, new or all.
func (m Mode) String() string { return wire.Name(modeNames[:], uint8(m)) }

// MarshalText returns the name of m.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes a name that String returns.
func (m *Mode) UnmarshalText(text []byte) error {
	return wire.ParseName(modeNames[:], "mode", text, (*uint8)(m))
}

// A Cassette is a file in the portable form that is replayed, and recorded if
// its mode says so.
type Cassette struct {
	Path    string
	Mode    Mode
	Command []string // the real agent; empty: there is none, and nothing is recorded
	Agent   Agent    // how to replay; its Sources, Live and Journal are the cassette's
}

// mode returns the mode that there can be: without an agent nothing is recorded.
func (c *Cassette) mode() Mode {
	if len(c.Command) == 0 {
		return ModeNone
	}
	return c.Mode
}

// Open returns the tape that Run is going to play, nil if it is going to record
// one. A file that is missing then is an error.
func (c *Cassette) Open() (*record.Tape, error) {
	mode := c.mode()
	if mode != ModeNone {
		if err := errors.Join(c.keep(whole), c.keep(addition)); err != nil {
			return nil, err
		}
	}
	if mode == ModeAll {
		return nil, nil
	}
	t, err := record.OpenFile(c.Path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && mode != ModeNone:
		return nil, nil
	case missing && c.Mode == ModeNone:
		err = fmt.Errorf("%w; in the mode none it is not recorded, in the mode once it is", err)
	case missing:
		err = fmt.Errorf("%w; there is no agent to record it from", err)
	}
	return t, err
}

// Run plays the agent of the file, or runs the real one, to the client on in and
// out. Where it records, the file appears or changes when the client has gone,
// whole or not at all; if we were killed, before the next run.
func (c *Cassette) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	t, err := c.Open()
	switch {
	case err != nil:
		return Report{}, err
	case t == nil:
		return c.record(ctx, in, out, errOut)
	}
	agent := c.Agent
	agent.Sources = []Source{{Tape: t}}
	if c.mode() != ModeNew {
		return agent.Run(ctx, in, out, errOut)
	}
	var report Report
	err = c.tape(addition, func(j *record.Journal) error {
		agent.Live, agent.Journal = c.Command, j
		var err error
		report, err = agent.Run(ctx, in, out, errOut)
		return err
	})
	return report, err
}

// record runs the real agent, and makes the file anew.
func (c *Cassette) record(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	var report Report
	err := c.tape(whole, func(j *record.Journal) error {
		p := proxy.Proxy{Command: c.Command, In: in, Out: out, Err: errOut, Journal: j}
		err := p.Run(ctx)
		var exit *proxy.ExitError
		if errors.As(err, &exit) {
			report.Exit = &wire.Exit{Code: exit.Code}
			if exit.Signal != nil {
				report.Exit.Signal = exit.Signal.String()
			}
			return nil
		}
		return err
	})
	return report, err
}

// What is recorded lies in a store beside the file until it is whole: clients
// kill their agents, and we stand where an agent stands. The next run takes over
// what it finds there.
const (
	whole    = ".recording" // becomes the file
	addition = ".adding"    // is put into it
)

func (c *Cassette) store(kind string) *record.Store {
	return record.OpenStore(filepath.Join(filepath.Dir(c.Path), "."+filepath.Base(c.Path)+kind))
}

// tape records what do does, and keeps it whether that fails or not; but not if
// the agent did not start.
func (c *Cassette) tape(kind string, do func(*record.Journal) error) error {
	// The store would make the directory of the file for its user alone.
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o777); err != nil {
		return err
	}
	store := c.store(kind)
	cwd, _ := os.Getwd() // one that was deleted has no name
	j, err := store.Record(record.Start{Command: c.Command, Cwd: cwd})
	if err != nil {
		return err
	}
	// A store that is left behind, with all that was said, shall not be committed.
	ignored := os.WriteFile(filepath.Join(store.Dir(), ".gitignore"), []byte("*\n"), 0o600)
	err = errors.Join(ignored, do(j), j.Close())
	j.Wait() // a tape that is live is not kept
	return errors.Join(err, c.keep(kind))
}

// keep moves what was recorded into the file, and removes the store. A recording
// that another process is at stays.
func (c *Cassette) keep(kind string) error {
	store := c.store(kind)
	ids, err := store.Tapes()
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		t, err := store.Open(id)
		if err != nil {
			return err
		}
		info, err := t.Info()
		switch {
		case err != nil:
			return err
		case info.Live:
			return nil
		case info.Frames == 0: // no agent has run
		default:
			err = record.WriteFile(c.Path, func(w io.Writer) error {
				if kind == addition {
					return insert(w, c.Path, t)
				}
				return writeStable(w, t)
			})
		}
		if err == nil {
			_, err = store.Delete(id)
		}
		if err != nil {
			return err
		}
	}
	return os.RemoveAll(store.Dir())
}

// writeStable writes a tape in the portable form without what differs from run
// to run, or from user to user, where nothing else does: its id, its date, the
// command line, numbers, and times but for the second.
func writeStable(w io.Writer, t *record.Tape) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	s := info.Start
	info.Tape, info.Start = "", record.Start{Name: filepath.Base(s.Command[0]), Cwd: s.Cwd}
	b := &stabilizer{w: bufio.NewWriter(w)}
	e, err := record.NewExporter(b, info, false)
	if err != nil {
		return err
	}
	for f, err := range t.Frames(1) {
		if err != nil {
			return err
		}
		if f.Dir == wire.AgentStderr && wire.ReadMark(f.Frame).EOF {
			continue // comes before or after the end of stdout, by chance
		}
		if err := e.Write(t, f); err != nil {
			return err
		}
	}
	return errors.Join(e.Close(), b.w.Flush())
}

// A stabilizer takes the portable form as an Exporter writes it, and leaves out
// the numbers of the frames, and times in which no second has gone by.
type stabilizer struct {
	w    *bufio.Writer
	at   time.Duration
	head []byte // the beginning of a line
	body bool   // the head of this line has been written
}

func (s *stabilizer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if s.body {
			end := bytes.IndexByte(b, '\n') + 1
			if end == 0 {
				end = len(b)
			} else {
				s.body = false
			}
			if _, err := s.w.Write(b[:end]); err != nil {
				return 0, err
			}
			b = b[end:]
			continue
		}
		s.head, b = append(s.head, b[0]), b[1:]
		if s.head[len(s.head)-1] == '\n' || bytes.HasSuffix(s.head, []byte(`"dir"`)) || !bytes.HasPrefix(s.head, []byte(`{"seq":`)[:min(len(s.head), 7)]) {
			s.body = s.head[len(s.head)-1] != '\n'
			s.w.Write(s.steady(s.head))
			s.head = s.head[:0]
		}
	}
	return n, nil
}

// steady returns the head of a line without its number.
func (s *stabilizer) steady(head []byte) []byte {
	at, rest, ok := bytes.Cut(head, []byte(`,"at":`))
	if !ok || !bytes.HasPrefix(at, []byte(`{"seq":`)) {
		return head
	}
	number, _, _ := bytes.Cut(rest, []byte(","))
	seconds, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return head
	}
	if whole := time.Duration(seconds) * time.Second; whole > s.at {
		s.at = whole
		return fmt.Appendf(nil, `{"at":%d,"dir"`, int(seconds))
	}
	return []byte(`{"dir"`)
}

// insert writes the file at path with the frames of a tape before the marks at
// its end. The tape's own initialize is left out: the file has one. An agent that
// ended before it was asked for anything has nothing to add.
func insert(w io.Writer, path string, t *record.Tape) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeStable(&b, t); err != nil {
		return err
	}
	head, tail := cutMarks(old)
	var added []byte
	asked := false // the agent was, for something beside initialize
	first := true
	for line := range bytes.Lines(b.Bytes()) {
		if first { // the header
			first = false
			continue
		}
		f := gjson.GetBytes(line, "frame")
		if f.Get("id").Raw == greeting || f.Get("method").Str == "notifications/initialized" || isMark(line) {
			continue
		}
		asked = asked || gjson.GetBytes(line, "dir").Str == wire.ClientToAgent.String()
		added = append(added, line...)
	}
	if !asked {
		added = nil
	}
	_, err = w.Write(slices.Concat(head, added, tail))
	return err
}

// cutMarks divides a portable file before the marks at its end.
func cutMarks(file []byte) (head, tail []byte) {
	if len(file) > 0 && file[len(file)-1] != '\n' {
		file = append(file, '\n')
	}
	end := len(file)
	for end > 0 {
		begin := bytes.LastIndexByte(file[:end-1], '\n') + 1
		if line := bytes.TrimSpace(file[begin:end]); len(line) > 0 && !isMark(line) {
			break
		}
		end = begin
	}
	return file[:end], file[end:]
}

// isMark reports whether a line of a portable file is an event, not a frame.
func isMark(line []byte) bool {
	g := gjson.ParseBytes(line)
	return g.Get("eof").Exists() || g.Get("exit").Exists() || g.Get("signal").Exists()
}
