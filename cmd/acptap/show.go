package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// show holds the flags of acptap show.
type show struct {
	chat     bool
	asJSON   bool
	follow   bool
	nested   bool // include the tapes of servers
	raw      bool
	from, to uint64
	frame    ref.Frame // zero: all
	color    string
	flags    query.Flags
	match    query.Matcher // parsed from flags
}

func newShowCmd(dir *string) *cobra.Command {
	var s show
	cmd := &cobra.Command{
		Use:   "show [flags] [REF[:FRAME]]",
		Short: "Show the frames of a tape, or its conversations",
		Long: `Shows a tape or a session, one line for each frame: its number, the seconds
since the tape began, the direction, the kind, the method (or the variant of a
session/update), and a summary. + before a frame means that acptap added it, ~
that it changed it, × that it withheld it; ⇠ is the agent's stderr. ✎ is a note
(acptap note). REF:FRAME shows one frame whole, as --frame does.

» before a name is for what a component of a proxy chain passes along: the
message inside of proxy/successor, which update:METHOD finds. --chat shows what
the component itself was asked and said.

POST 3 is the HTTP exchange with number 3, at its first frame; POST 3 → 200 sse
is the response. Other heads and ends of exchanges have lines of their own.

With --chat it shows the conversations as they were at the end. ↳ below a tool
call is what it led to on the recorded tape of an MCP server, and what tells so:
an id, the names of server and tool, the arguments, or the text; with · it is
only known to be in that turn.

Several flags that select frames must all match; values of one flag are
alternatives. A response has the method of its request.
` + query.Help() + ref.Help + `

REF is last by default. With --follow, last waits for the first tape of an empty
store. Without REF, --follow goes on with each tape that begins later, as when
an editor restarts its agent, until you interrupt it.

With --mcp the frames of the tapes of the MCP servers that the agent started
stand between those of the agent, by time; their numbers are NAME:12, and frame
12 of that server's tape is REF+NAME:12. A session has its own servers only.
Filters work on all frames; server:NAME asks for those of a server. With
--follow, servers that are started later are shown too.

A line of --json is an object with
  seq       number of the frame, from 1
  at, time  seconds since the tape began; the time of day (RFC 3339)
  dir       c2a, a2c, or err for the agent's stderr
  origin    wire, withheld, injected or rewritten
  kind      as the key kind above
  method    for a response, that of its request
  update    variant of a session/update; of a message with », the method inside
  session   id
  size      bytes of the line, without its end
  answers   seq of the request that this answers, or cancels (MCP)
  latency   seconds since that request
  failed    true: an error, or an MCP tool's result with isError
  failure   what went wrong, as the key failure above
  stream    number of the HTTP exchange or WebSocket, if there is one
  lead      framing before the bytes there: text, or {"base64": ...}
  derived   true: the bytes are joined from several lines or fragments in lead
  redelivered  true: the server sent this event before
  summary   as in the line without --json
  server    with --mcp, of a server's frame: NAME; seq is then the number on its
            tape, and at counts from when the agent's tape began
  notes     the notes on the frame: for each id, text, at
and the bytes that passed, as one of frame (JSON), text, base64, or mark (what
happened); none of these if it is longer than 1 MiB. Empty members are left out.

Exit status 0; 1 if no frame matches the flags; 2 if REF, or a part of it,
cannot be read.`,
		Example: `  acptap show
  acptap show -f
  acptap show --chat last
  acptap show --mcp --filter 'server:files | method:session/*' last
  acptap show --method 'fs/*' --kind request last
  acptap show --text 'no such file' --dir agent tape.jsonl
  acptap show --filter '(latency:>2s | is:error) !method:fs/*' last
  acptap show --filter '.params.update.status:failed' last
  acptap show last:17
  acptap show --json last | jq -r 'select(.failure) | .summary'`,
		Args: cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.parse(); err != nil {
				return err
			}
			name := "last"
			if len(args) > 0 {
				name = args[0]
			}
			if s.follow && !s.raw && name == "last" {
				return s.followStore(cmd.Context(), *dir, len(args) == 0, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			sub, err := s.subject(cmd, *dir, name)
			if err != nil {
				return err
			}
			return s.run(cmd.Context(), sub, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&s.chat, "chat", false, "show conversations instead of frames")
	f.BoolVar(&s.asJSON, "json", false, "one JSON object a line")
	f.BoolVar(&s.nested, "mcp", false, "also the frames of the servers that the agent started, by time; see above")
	f.BoolVarP(&s.follow, "follow", "f", false, "wait for more frames until the tape ends; see above")
	s.flags.Register(f)
	f.Uint64Var(&s.from, "from", 1, "start with the frame of this `number`")
	f.Uint64Var(&s.to, "to", math.MaxUint64, "stop after the frame of this `number`")
	f.Lookup("to").DefValue = "the last"
	f.Var(&s.frame, "frame", "only the frame of this `number`, whole; of a session on several tapes, 2.17 is frame 17 of the second")
	f.BoolVar(&s.raw, "raw", false, "with --frame: its bytes exactly as they passed; on a terminal, control characters are escaped")
	f.StringVar(&s.color, "color", "auto", "`when` to use colours: auto, always or never")
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkShowFlags(f) }
	return cmd
}

func checkShowFlags(f *pflag.FlagSet) error {
	return cmp.Or(
		cli.Exclusive(f, "chat", "follow", "method", "update", "dir", "kind", "text", "filter", "from", "to", "frame"),
		cli.Exclusive(f, "mcp", "from", "to", "frame"),
		cli.Exclusive(f, "frame", "follow", "method", "session", "update", "dir", "kind", "text", "filter", "from", "to", "json"),
	)
}

// parse checks the flags and makes the matcher.
func (s *show) parse() (err error) {
	if s.match.Filter, err = s.flags.Filter(); err != nil {
		return err
	}
	switch s.color {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("--color is auto, always or never, not %q", s.color)
	}
	return nil
}

// subject finds what REF or REF:FRAME names. REF:FRAME means --frame FRAME, unless REF is
// an ID that ends like this.
func (s *show) subject(cmd *cobra.Command, dir, name string) (ref.Subject, error) {
	sub, err := ref.Resolve(dir, name, cmd.InOrStdin())
	if base, frame := ref.CutFrame(name); err != nil && frame.Seq > 0 && s.frame.Seq == 0 {
		if err := cmd.Flags().Set("frame", frame.String()); err != nil {
			return sub, err
		}
		if err := checkShowFlags(cmd.Flags()); err != nil {
			return sub, fmt.Errorf("%s is --frame %s %s: %w", name, frame.String(), base, err)
		}
		sub, err = ref.Resolve(dir, base, cmd.InOrStdin())
	}
	if err == nil && s.raw && s.frame.Seq == 0 {
		err = errors.New("--raw goes with --frame")
	}
	return sub, err
}

func (s *show) run(ctx context.Context, sub ref.Subject, stdout, stderr io.Writer) error {
	w := bufio.NewWriterSize(stdout, 64<<10)
	width, color := s.canvas(stdout)
	var err error
	switch {
	case s.frame.Seq != 0:
		err = s.one(w, sub, cli.IsTerminal(stdout))
	case s.chat:
		err = s.conversations(ctx, w, stderr, sub, width, color)
	default:
		err = s.frames(ctx, w, stderr, sub, frametext.Lines{W: w, Width: width, Color: color})
	}
	return cmp.Or(w.Flush(), err)
}

// canvas returns the width of the terminal, or 0 if stdout is none, and whether to use
// colours.
func (s *show) canvas(stdout io.Writer) (width int, color bool) {
	return cli.Columns(stdout), s.color == "always" || s.color == "auto" && cli.TakesColor(stdout)
}

// frames shows the matching frames.
func (s *show) frames(ctx context.Context, w *bufio.Writer, stderr io.Writer, sub ref.Subject, form frametext.Lines) error {
	if err := s.match.Judge(ctx, sub); err != nil {
		return err
	}
	if s.nested {
		return s.together(ctx, w, stderr, sub, form)
	}
	l := listing{show: s, match: &s.match, w: w, stderr: stderr, sum: &sum{}}
	for i, p := range sub.Parts {
		l.lines = form // frame numbers restart on each tape
		if err := l.begin(sub, p); err != nil {
			return err
		}
		last := i == len(sub.Parts)-1
		if err := l.part(sub, p, l.source(ctx, p, last)); err != nil {
			return err
		}
	}
	return s.verdict(l.sum)
}

// source yields the frames of a part. With --follow it waits for more on the last part.
func (s *show) source(ctx context.Context, p ref.Part, last bool) iter.Seq2[dialect.Frame, error] {
	from := s.match.From(p, s.from)
	if s.follow && last {
		return p.Tape.Follow(ctx, from)
	}
	return p.Tape.Frames(from)
}

// A listing writes the frames of a show.
type listing struct {
	*show
	match  *query.Matcher
	w      *bufio.Writer
	stderr io.Writer
	lines  frametext.Lines // of the current tape
	start  time.Time       // when the current tape began: zero of the times shown
	headed bool            // the notes on the current tape were written
	sum    *sum
}

// A sum counts the frames shown and the parts that cannot be read.
type sum struct{ shown, broken int }

func (l *listing) begin(sub ref.Subject, p ref.Part) error {
	info, err := p.Tape.Info()
	if err != nil && (l.asJSON || !l.match.IsZero()) {
		return err
	}
	if l.lines.Notes, err = p.Tape.Notes(); err != nil {
		cli.Warn(l.stderr, "%v", err)
	}
	l.headed = l.asJSON
	l.lines.Fold = l.match.IsZero()
	l.start, l.match.LookAhead, l.lines.IsUnanswered = info.Start.Time, true, l.match.IsUnanswered
	l.match.StartTape(p, info)
	if len(sub.Parts) > 1 && !l.asJSON {
		return l.lines.Heading("tape " + p.Tape.ID())
	}
	return nil
}

func (l *listing) part(sub ref.Subject, p ref.Part, frames iter.Seq2[dialect.Frame, error]) error {
	for f, err := range frames {
		switch {
		case err != nil:
			err = l.trouble(err)
		case f.Seq > l.to:
			return nil
		default:
			err = l.take(sub, p, &f)
		}
		if err != nil {
			return err
		}
	}
	return l.end()
}

// take shows the next frame of a part if it matches.
func (l *listing) take(sub ref.Subject, p ref.Part, f *dialect.Frame) error {
	if l.match.Matches(f) && f.Seq >= l.from && sub.Has(p, f) {
		return l.write(f)
	}
	l.lines.Pass(f)
	return nil
}

// end finishes the output of a tape.
func (l *listing) end() error {
	if l.asJSON {
		return nil
	}
	return l.lines.Close()
}

func (l *listing) write(f *dialect.Frame) error {
	l.sum.shown++
	var err error
	if !l.headed {
		l.headed = true
		err = l.lines.Written()
	}
	if l.asJSON {
		err = l.lines.WriteJSON(f, l.start)
	} else {
		err = cmp.Or(err, l.lines.Write(f))
	}
	if err != nil || !l.follow {
		return err
	}
	return l.w.Flush()
}

// trouble reports a part that cannot be read. The frames after it are still shown.
func (l *listing) trouble(err error) error {
	l.sum.broken++
	cli.Warn(l.stderr, "%v", err)
	if l.asJSON {
		return nil
	}
	return l.lines.Trouble(err)
}

func (s *show) verdict(n *sum) error {
	picky := !s.match.IsZero() || s.from > 1 || s.to != math.MaxUint64
	switch {
	case n.broken > 0:
		return unreadable(n.broken)
	case n.shown == 0 && picky:
		return cli.ErrNo
	}
	return nil
}

// one shows one frame in full. On a terminal it escapes control characters.
func (s *show) one(w io.Writer, sub ref.Subject, terminal bool) error {
	p, err := sub.PartWith(s.frame)
	if err != nil {
		return err
	}
	if s.raw && !terminal {
		return p.Tape.WriteFrame(w, s.frame.Seq)
	}
	f, err := p.Tape.Frame(s.frame.Seq)
	if err != nil {
		return err
	}
	in := &frametext.Indenter{W: w, Text: s.raw || f.Kind == wire.Invalid || f.Kind == wire.Stderr}
	if err := p.Tape.WriteFrame(in, s.frame.Seq); err != nil {
		return err
	}
	return in.Close()
}
