package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// ctlFlags are the flags of acptap ctl.
type ctlFlags struct {
	json   bool
	count  int
	limit  time.Duration
	frame  string
	failed bool
}

// A ctlAction is what acptap ctl does with a proxy.
type ctlAction struct {
	name        string
	least, most int // number of arguments; most -1: no limit
	attends     bool
	do          func(x *ctl, args []string) error
}

// ctlActions lists the actions in the order of the help.
var ctlActions = []ctlAction{
	{"rules", 0, 2, false, (*ctl).rules},
	{"hold", 0, -1, true, (*ctl).hold},
	{"held", 0, 0, false, (*ctl).held},
	{"release", 1, 1, false, (*ctl).release},
	{"drop", 1, 1, false, (*ctl).drop},
	{"answer", 2, 2, false, (*ctl).answer},
	{"inject", 2, 2, false, (*ctl).inject},
	{"resend", 2, 2, false, (*ctl).resend},
}

// lookupCtl returns the action called name.
func lookupCtl(name string) (a ctlAction, ok bool) {
	i := slices.IndexFunc(ctlActions, func(a ctlAction) bool { return a.name == name })
	if i < 0 {
		return a, false
	}
	return ctlActions[i], true
}

// unknownAction returns the error for a word that is not an action.
func unknownAction(word string) error {
	names := make([]string, len(ctlActions))
	for i, a := range ctlActions {
		names[i] = a.name
	}
	return fmt.Errorf("unknown action %q, expected one of %s", word, strings.Join(names, " "))
}

func newCtlCmd(dir *string) *cobra.Command {
	var flags ctlFlags
	cmd := &cobra.Command{
		Use:   "ctl [flags] [REF] [ACTION [ARG...]]",
		Short: "Hold frames of a running proxy, and change its rules",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, action, rest, err := ctlWords(args, func(name string) error {
				if name == "last" {
					return nil
				}
				_, err := ref.Resolve(*dir, name, nil)
				return err
			})
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			if action.do == nil {
				return listProxies(ctx, *dir, &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			x := &ctl{ctx: ctx, stop: stop, dir: *dir, flags: &flags, in: cmd.InOrStdin(), out: cmd.OutOrStdout()}
			if err := x.connect(name, action.attends, cmd.ErrOrStderr()); err != nil {
				return err
			}
			defer x.close()
			return action.do(x, rest)
		},
	}
	f := cmd.Flags()
	f.IntVar(&flags.count, "count", 0, "with hold, end when so `many` frames were held and are gone; 0: never")
	f.DurationVar(&flags.limit, "for", 0, "with hold, the longest `time` for which a frame is held (default: as the proxy says)")
	f.StringVar(&flags.frame, "frame", "", "with release, the frame to send in its place, from a `file` or - for stdin")
	f.BoolVar(&flags.failed, "error", false, "with answer, JSON is an error, not a result")
	f.BoolVar(&flags.json, "json", false, "one JSON object a line")
	return cmd
}

// ctlWords splits the arguments into REF, the action and the action's arguments. Without
// arguments there is no action. resolve returns an error if a word is not a REF.
func ctlWords(args []string, resolve func(name string) error) (name string, action ctlAction, rest []string, err error) {
	if len(args) == 0 {
		return name, action, nil, nil
	}
	action, ok := lookupCtl(args[0])
	rest = args[1:]
	if !ok {
		name = args[0]
		word := "held"
		if len(rest) > 0 {
			word, rest = rest[0], rest[1:]
		}
		if action, ok = lookupCtl(word); !ok || len(args) == 1 { // the first word may be a mistyped action
			if err := resolve(name); err != nil {
				return name, action, nil, fmt.Errorf("%w; and as a REF, %w", unknownAction(name), err)
			}
		}
		if !ok {
			return name, action, nil, unknownAction(word)
		}
	}
	if len(rest) < action.least || action.most >= 0 && len(rest) > action.most {
		return name, action, nil, fmt.Errorf("%s takes other arguments: acptap ctl --help", action.name)
	}
	return name, action, rest, nil
}

// A ctl is a connection to a proxy.
type ctl struct {
	ctx    context.Context
	stop   context.CancelFunc // ends ctx
	dir    string
	flags  *ctlFlags
	in     io.Reader
	out    io.Writer
	client *control.Client
	events chan control.Notification // notifications, if we attend

	background sync.WaitGroup // goroutines that end with ctx or with the connection
}

// connect connects to the proxy that records the tape named by REF, or to the newest
// listening proxy if name is empty.
func (x *ctl) connect(name string, attends bool, stderr io.Writer) error {
	tapes, err := x.tapes(name)
	if err != nil {
		return err
	}
	why := control.ErrNobody
	for _, path := range slices.Backward(tapes) {
		if err = x.dial(path, attends); err == nil {
			return nil
		}
		if !errors.Is(err, control.ErrNobody) {
			why = err
		}
	}
	cli.Warn(stderr, "%v", why)
	return cli.ErrNo
}

// dial connects to the proxy that listens at path.
func (x *ctl) dial(path string, attends bool) (err error) {
	var tell func(control.Notification)
	if attends {
		x.events = make(chan control.Notification, 1<<12)
		tell = func(n control.Notification) {
			select {
			case x.events <- n:
			case <-x.ctx.Done():
			}
		}
	}
	x.client, err = control.Dial(x.ctx, path, attends, tell)
	return err
}

// close ends the connection, even if there are unread events.
func (x *ctl) close() {
	x.stop()
	x.client.Close()
	x.background.Wait()
}

// tapes returns the paths where proxies may listen, newest last.
func (x *ctl) tapes(name string) (paths []string, err error) {
	if name != "" && name != "last" {
		sub, err := ref.Resolve(x.dir, name, nil)
		if err != nil {
			return nil, err
		}
		if sub.Store == nil {
			return nil, errors.New("nothing records a file")
		}
		return []string{control.Path(sub.Store.Dir(), sub.Parts[len(sub.Parts)-1].Tape.ID())}, nil
	}
	store, err := ref.OpenStore(x.dir)
	if err != nil {
		return nil, err
	}
	for _, tape := range store.Live() {
		paths = append(paths, control.Path(store.Dir(), tape))
	}
	return paths, nil
}

// A proxyLine is a listening proxy in the output of acptap ctl --json.
type proxyLine struct {
	Tape  string `json:"tape" help:"the id of its tape"`
	PID   int    `json:"pid" help:"of the proxy"`
	Agent string `json:"agent" help:"its name or command"`
	Held  int    `json:"held" help:"how many frames wait"`
}

// listProxies lists the listening proxies.
func listProxies(ctx context.Context, dir string, flags *ctlFlags, out, stderr io.Writer) error {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	var lines []proxyLine
	for _, tape := range store.Live() {
		c, err := control.Dial(ctx, control.Path(store.Dir(), tape), false, nil)
		if err != nil {
			continue
		}
		c.Close()
		line := proxyLine{Tape: tape, PID: c.Hello.PID, Held: len(c.Hello.Held)}
		if t, err := store.Open(tape); err == nil {
			if info, err := t.Info(); err == nil {
				line.Agent = tapetext.AgentName(info)
			}
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		cli.Warn(stderr, "%v", control.ErrNobody)
		return cli.ErrNo
	}
	if flags.json {
		return cli.WriteJSONLines(out, lines, func(l proxyLine) any { return l })
	}
	t := &cli.Table{}
	t.Heading("TAPE", "PID", "HELD", "AGENT")
	for _, l := range lines {
		t.Row(l.Tape, strconv.Itoa(l.PID), strconv.Itoa(l.Held), termtext.Line(l.Agent))
	}
	return t.Write(out, cli.Columns(out), 3)
}

// held lists the waiting frames.
func (x *ctl) held([]string) error {
	held, err := x.client.Held(x.ctx)
	if err != nil {
		return err
	}
	if x.flags.json {
		return cli.WriteJSONLines(x.out, held, func(h control.Held) any { return h })
	}
	t := &cli.Table{}
	t.Heading("ID", "WAITS", "FROM", "KIND", "METHOD", "SESSION", "BY")
	for _, h := range held {
		by := h.Rule
		if h.Behind != 0 {
			by = fmt.Sprintf("behind %d", h.Behind)
		}
		t.Row(strconv.FormatUint(h.ID, 10), termtext.Duration(time.Since(h.At)), h.Dir.Sender(), h.Kind.String(), termtext.Line(termtext.Spaced(h.Method, h.Update)), termtext.Line(h.Session), termtext.Line(by))
	}
	return t.Write(x.out, cli.Columns(x.out), 4, 5)
}

// id parses the number of a waiting frame; next means the oldest one.
func (x *ctl) id(text string) (uint64, error) {
	if text != "next" {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil || id == 0 {
			return 0, fmt.Errorf("%q is no number of a frame that waits: acptap ctl held lists them", text)
		}
		return id, nil
	}
	held, err := x.client.Held(x.ctx)
	if err == nil && len(held) == 0 {
		err = errors.New("no frame waits")
	}
	if err != nil {
		return 0, err
	}
	return held[0].ID, nil
}

func (x *ctl) release(args []string) error {
	var line []byte
	if x.flags.frame != "" {
		text, err := readOperand(x.flags.frame, x.in)
		if err != nil {
			return err
		}
		line = bytes.TrimRight(text, "\r\n")
		if !wire.IsJSON(line) {
			return errors.New("the frame is not JSON")
		}
	}
	if args[0] == "all" {
		if line != nil {
			return errors.New("--frame goes in place of one frame")
		}
		return x.client.Release(x.ctx, 0, nil)
	}
	id, err := x.id(args[0])
	if err != nil {
		return err
	}
	return x.client.Release(x.ctx, id, line)
}

// readOperand reads a file, or stdin if its name is -.
func readOperand(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

func operandName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return termtext.Line(name)
}

func (x *ctl) drop(args []string) error {
	id, err := x.id(args[0])
	if err != nil {
		return err
	}
	return x.client.Drop(x.ctx, id)
}

func (x *ctl) answer(args []string) error {
	id, err := x.id(args[0])
	if err != nil {
		return err
	}
	json := []byte(args[1])
	if !wire.IsJSON(json) {
		return fmt.Errorf("the answer is not JSON: %s", termtext.Line(args[1]))
	}
	if x.flags.failed {
		return x.client.Answer(x.ctx, id, nil, json)
	}
	return x.client.Answer(x.ctx, id, json, nil)
}

// inject sends the lines of a file.
func (x *ctl) inject(args []string) error {
	to, err := receiver(args[0])
	if err != nil {
		return err
	}
	text, err := readOperand(args[1], x.in)
	if err != nil {
		return err
	}
	sent := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if err := x.send(to, line); err != nil {
			return err
		}
		sent++
	}
	if sent == 0 {
		return fmt.Errorf("nothing to send: %s has no line", operandName(args[1]))
	}
	return nil
}

// receiver parses the receiver of a frame.
func receiver(word string) (wire.Direction, error) {
	to, ok := wire.ToPeer(word)
	if !ok {
		return to, fmt.Errorf("a frame is sent to the client or to the agent, not to %q", word)
	}
	return to, nil
}

// send sends a line, and writes the answer if it is a request.
func (x *ctl) send(to wire.Direction, line []byte) error {
	answer, err := x.client.Inject(x.ctx, to, line)
	if err == nil && answer != nil {
		_, err = fmt.Fprintf(x.out, "%s\n", answer)
	}
	return err
}

// resend sends a frame of the tape again.
func (x *ctl) resend(args []string) error {
	to, err := receiver(args[0])
	if err != nil {
		return err
	}
	seq, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not the number of a frame", args[1])
	}
	store, err := ref.OpenStore(x.dir)
	if err != nil {
		return err
	}
	tape, err := store.Open(x.client.Hello.Tape)
	if err != nil {
		return err
	}
	f, err := tape.Frame(seq)
	if err != nil {
		return err
	}
	if f.Kind == wire.Mark || f.Dir == wire.AgentStderr || int64(len(f.Raw)) < f.Size {
		return fmt.Errorf("frame %d cannot be sent again", seq)
	}
	return x.send(to, f.Raw)
}

// rules lists the rules, or changes them.
func (x *ctl) rules(args []string) error {
	if len(args) == 0 {
		rules, err := x.client.Rules(x.ctx)
		if err != nil {
			return err
		}
		if x.flags.json {
			return cli.WriteJSONLines(x.out, rules, func(r control.Rule) any { return r })
		}
		t := &cli.Table{}
		t.Heading("NAME", "HITS", "", "RULE")
		for _, r := range rules {
			off := ""
			if r.Off {
				off = "off"
			}
			t.Row(termtext.Line(r.Name), strconv.Itoa(r.Hits), off, termtext.Line(r.Text))
		}
		return t.Write(x.out, cli.Columns(x.out), 3)
	}
	verbs := []string{"add", "load", "on", "off", "remove"}
	switch {
	case !slices.Contains(verbs, args[0]):
		return fmt.Errorf("unknown action \"rules %s\", expected one of %s", args[0], strings.Join(verbs, " "))
	case len(args) == 1:
		return fmt.Errorf("rules %s needs an argument", args[0])
	}
	switch verb, what := args[0], args[1]; verb {
	case "add":
		return x.client.AddRules(x.ctx, "", what)
	case "load":
		text, err := readOperand(what, x.in)
		if err != nil {
			return err
		}
		return x.client.AddRules(x.ctx, what, string(text))
	case "on", "off":
		return x.client.EnableRule(x.ctx, what, verb == "on")
	default:
		return x.client.RemoveRule(x.ctx, what)
	}
}
