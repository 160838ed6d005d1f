package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/disk"
)

// A Mode says when a Cassette runs the real agent and writes the file. The modes are
// those of VCR, the Ruby library.
type Mode uint8

// The modes.
const (
	ModeOnce Mode = iota // record if there is no file, otherwise replay
	ModeNone             // replay only
	ModeNew              // replay, and add what the file lacks: sessions, the continuation of sessions, MCP calls
	ModeAll              // record
)

var modeNames = [...]string{"once", "none", "new", "all"}

// ModeVariable names the environment variable that sets the mode where the command cannot
// be changed, such as on a build server that must not run agents.
const ModeVariable = "ACPTAP_MODE"

// String returns once, none, new or all.
func (m Mode) String() string { return wire.Name(modeNames[:], uint8(m)) }

// UnmarshalText parses a name that String returns.
func (m *Mode) UnmarshalText(text []byte) error {
	return wire.ParseName(modeNames[:], "mode", text, (*uint8)(m))
}

// A Cassette replays a file in the portable form, or records it if its mode says so.
type Cassette struct {
	Path    string
	Mode    Mode
	Command []string // the real agent; empty: none, and nothing is recorded
	Agent   Agent    // how to replay; its Tapes, Live and Journal are the cassette's

	// Rules change what passes between client and agent, as rule.Parse reads them; their
	// seed is 0 if they name none. With rules, nothing is recorded. They must not hold
	// frames.
	Rules string

	// Wrap, if set, receives the arguments of Run and returns what Run uses instead, so
	// the caller can observe the traffic.
	Wrap func(in io.Reader, out io.Writer) (io.Reader, io.Writer)

	opened bool         // Open was called for the next Run
	plays  *record.Tape // the tape that Open returned
	rules  *rule.Set    // parsed from Rules by Open
}

// mode returns the effective mode: without an agent, nothing can be recorded, and under
// rules the agent would not hear or say what it should.
func (c *Cassette) mode() Mode {
	if len(c.Command) == 0 || c.Rules != "" {
		return ModeNone
	}
	return c.Mode
}

// Open returns the tape that the next Run will play, or nil if that Run will record one.
// A missing file is an error if the mode forbids recording. Run calls Open if the caller
// has not.
func (c *Cassette) Open() (_ *record.Tape, err error) {
	if c.rules, err = rule.Parse("rules", c.Rules); err != nil {
		return nil, err
	}
	if err := (&Ruled{Rules: c.rules}).Check(); err != nil {
		return nil, err
	}
	c.plays, err = c.find()
	c.opened = err == nil
	return c.plays, err
}

func (c *Cassette) find() (*record.Tape, error) {
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
		err = fmt.Errorf("%w; the mode none does not record it, the mode once does", err)
	case missing && c.Rules != "" && len(c.Command) > 0:
		err = fmt.Errorf("%w; record it first without rules", err)
	case missing:
		err = fmt.Errorf("%w; there is no agent to record it from", err)
	}
	return t, err
}

// Run plays the file's agent to the client on in and out, or runs the real agent and
// records it. It writes the file atomically once the client has disconnected. If this
// process is killed before that, the next run that may record writes the file.
func (c *Cassette) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	if !c.opened {
		if _, err := c.Open(); err != nil {
			return Report{}, err
		}
	}
	if c.Wrap != nil {
		in, out = c.Wrap(in, out)
	}
	if c.Rules == "" {
		return c.play(ctx, in, out, errOut)
	}
	seed, _ := c.rules.Seed()
	ruled := Ruled{Player: playing(c.play), Rules: c.rules, Seed: seed}
	return ruled.Run(ctx, in, out, errOut)
}

// playing is a function that is a Player.
type playing func(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error)

func (p playing) Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	return p(ctx, in, out, errOut)
}

// play plays or records what Open has found.
func (c *Cassette) play(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	t := c.plays
	c.opened, c.plays = false, nil
	if t == nil {
		return c.record(ctx, in, out, errOut)
	}
	agent := c.Agent
	agent.Tapes = []*record.Tape{t}
	if c.mode() != ModeNew {
		return agent.Run(ctx, in, out, errOut)
	}
	var report Report
	err := c.tape(addition, func(j *record.Recorder) error {
		agent.Live, agent.Journal = c.Command, j
		var err error
		report, err = agent.Run(ctx, in, out, errOut)
		return err
	})
	return report, err
}

// record runs the real agent and replaces the file with the recording.
func (c *Cassette) record(ctx context.Context, in io.Reader, out, errOut io.Writer) (Report, error) {
	var report Report
	err := c.tape(whole, func(j *record.Recorder) error {
		p := proxy.Proxy{Command: c.Command, In: in, Out: out, Err: errOut, Journal: j}
		err := p.Run(ctx)
		var exit *proxy.ExitError
		if errors.As(err, &exit) {
			how := exit.Exit()
			report.Exit = &how
			return nil
		}
		return err
	})
	return report, err
}

// Until a recording is complete it is kept in a store next to the file: clients kill their
// agents, and this process runs in place of one. The next run picks up a recording left
// there. The suffix tells what to do with it.
const (
	whole    = ".recording" // replaces the file
	addition = ".adding"    // is added to the file
)

func (c *Cassette) store(kind string) *record.Store {
	return record.OpenStore(filepath.Join(filepath.Dir(c.Path), "."+filepath.Base(c.Path)+kind))
}

// tape calls do with a recorder and keeps the recording. It keeps it even if do fails,
// unless the agent did not start.
func (c *Cassette) tape(kind string, do func(*record.Recorder) error) error {
	// The store would make the file's directory readable by its owner only.
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o777); err != nil {
		return err
	}
	store := c.store(kind)
	cwd, _ := os.Getwd() // a deleted directory has no name
	j, err := store.Record(record.Start{Command: c.Command, Cwd: cwd})
	if err != nil {
		return err
	}
	// A leftover store holds the whole conversation and must not be committed.
	ignored := os.WriteFile(filepath.Join(store.Dir(), ".gitignore"), []byte("*\n"), 0o600)
	err = errors.Join(ignored, do(j), j.Close())
	j.Wait() // keep skips live tapes
	return errors.Join(err, c.keep(kind))
}

// keep moves a recording into the file and removes the store. It leaves alone a recording
// that another process is still writing.
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
		case info.Frames == 0: // no agent ran
		default:
			err = disk.WriteFile(c.Path, func(w io.Writer) error {
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
