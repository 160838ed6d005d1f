package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/wire"
)

// show holds the flags of acptap show.
type show struct {
	chat     bool
	asJSON   bool
	format   string // of conversations: text, md or json
	turn     int    // of conversations: only this one; 0: all
	follow   bool
	nested   bool // include the tapes of servers
	raw      bool
	from, to uint64
	frame    ref.Frame // zero: all
	color    string
	flags    query.Flags
	match    query.Matcher // parsed from flags
}

// refAndFrame checks the arguments of a command that takes REF, REF:FRAME or REF FRAME.
func refAndFrame(cmd *cobra.Command, args []string) error {
	if len(args) == 2 && new(ref.Frame).Set(args[1]) == nil {
		return nil
	}
	return cli.Operands(0, 1)(cmd, args)
}

// following lists the aliases that stand for show -f.
var following = []string{"tail", "follow"}

func newShowCmd(dir *string) *cobra.Command {
	s := show{format: "text"}
	cmd := &cobra.Command{
		Use:     "show [flags] [REF[:FRAME]]",
		Aliases: following,
		Short:   "Show the frames of a tape, or its conversations",
		Args:    refAndFrame,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.parse(); err != nil {
				return err
			}
			name := "last"
			if len(args) > 0 {
				name = strings.Join(args, ":")
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
	f.StringVar(&s.format, "format", s.format, "with --chat, the `form`: text, md (Markdown to paste into an issue, without secrets) or json")
	f.IntVar(&s.turn, "turn", 0, "with --chat, only the turn of this `number`")
	f.BoolVar(&s.nested, "mcp", false, "also the frames of the servers that the agent started, by time")
	f.BoolVarP(&s.follow, "follow", "f", false, "wait for more frames until the tape ends")
	s.flags.Register(f)
	f.Uint64Var(&s.from, "from", 1, "start with the frame of this `number`")
	f.Uint64Var(&s.to, "to", math.MaxUint64, "stop after the frame of this `number`")
	f.Lookup("to").DefValue = "the last"
	f.Var(&s.frame, "frame", "only the frame of this `number`, whole; of a session on several tapes, 2.17 is frame 17 of the second")
	f.BoolVar(&s.raw, "raw", false, "with --frame: its bytes exactly as they passed; on a terminal, control characters are escaped")
	f.StringVar(&s.color, "color", "auto", "`when` to use colours: auto, always or never")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(following, cmd.CalledAs()) {
			if err := f.Set("follow", "true"); err != nil {
				return err
			}
		}
		return checkShowFlags(f)
	}
	return cmd
}

func checkShowFlags(f *pflag.FlagSet) error {
	if name := cli.Given(f, "turn", "format"); name != "" && !f.Changed("chat") {
		return fmt.Errorf("--%s goes with --chat", name)
	}
	return cmp.Or(
		cli.OneOf("format", f.Lookup("format").Value.String(), "text", "md", "json"),
		cli.Exclusive(f, "json", "format"),
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
	if s.turn < 0 {
		return fmt.Errorf("--turn is the number of a turn, not %d", s.turn)
	}
	s.asJSON = s.asJSON || s.format == "json"
	return cli.OneOf("color", s.color, "auto", "always", "never")
}

// subject finds what REF or REF:FRAME names. REF:FRAME means --frame FRAME, unless REF is
// an ID that ends this way.
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

// canvas returns the width of the terminal, or 0 if stdout is not one, and whether to use
// colours.
func (s *show) canvas(stdout io.Writer) (width int, color bool) {
	return cli.Columns(stdout), s.color == "always" || s.color == "auto" && cli.TakesColor(stdout)
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
