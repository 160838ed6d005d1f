package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/self"
	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/ship/otlp"
	"github.com/acptap/acptap/record/trace/spans"
)

// A spanWriter writes spans in some format. Close does not close what it writes to.
type spanWriter interface {
	Write(set spans.Set) error
	Close() error
}

// checkFormat reports flags that do not go with the format.
func (x *exporting) checkFormat(filtered, nested bool) error {
	switch x.format {
	case "jsonl":
		if x.content {
			return errors.New("--content is for --format otlp and perfetto: jsonl always has what was said")
		}
		return nil
	case "otlp", "perfetto":
	default:
		return fmt.Errorf("--format %q: it is jsonl, otlp or perfetto", x.format)
	}
	switch {
	case filtered:
		return fmt.Errorf("--filter is for frames: --format %s writes whole turns", x.format)
	case x.findings, nested:
		return fmt.Errorf("--findings and --mcp are for --format jsonl, not %s", x.format)
	case x.raw && !x.content:
		return fmt.Errorf("--raw changes nothing: without --content, --format %s writes nothing that was said", x.format)
	}
	return nil
}

// exportSpans writes the spans of a subject. damage says what could not be read.
func (x *exporting) exportSpans(ctx context.Context, w io.Writer, sub ref.Subject, bar *terminal.Progress) (damage, err error) {
	b := spans.Builder{Content: x.content, Service: os.Getenv("OTEL_SERVICE_NAME")}
	var out spanWriter
	for _, p := range sub.Parts {
		info, err := p.Tape.Info()
		if err != nil {
			return damage, err
		}
		tape, err := spansTape(p.Tape, &info)
		if err != nil {
			return damage, err
		}
		if out == nil {
			if out, err = x.spanWriter(w, tape); err != nil {
				return damage, err
			}
		}
		b.Next(tape)
		for f, err := range x.spanFrames(p.Tape) {
			if ctx.Err() != nil {
				return damage, context.Cause(ctx)
			}
			if err != nil {
				damage = errors.Join(damage, err)
				continue
			}
			bar.Show(int64(f.Seq), int64(info.Lines))
			if err := writeSpans(out, b.Add(&f), sub.Session); err != nil {
				return damage, err
			}
		}
		if info.Live {
			continue
		}
		if err := writeSpans(out, b.End(), sub.Session); err != nil {
			return damage, err
		}
	}
	return damage, out.Close()
}

// spanWriter returns what writes the spans of a tape, and of those after it.
func (x *exporting) spanWriter(w io.Writer, first spans.Tape) (spanWriter, error) {
	if x.format == "perfetto" {
		return &spans.Perfetto{W: w, Start: first.Start}, nil
	}
	if first.Start.IsZero() {
		return nil, errors.New("nobody knows when the tape began, so its spans have no times: write started into its header")
	}
	return &otlp.Lines{W: w, Encoder: otlp.Encoder{Version: self.Version()}}, nil
}

// spanFrames yields the frames that spans are made of: without secrets, if they are to
// tell what was said.
func (x *exporting) spanFrames(t *record.Tape) iter.Seq2[dialect.Frame, error] {
	if x.content && !x.raw {
		return t.Redacted()
	}
	return t.Frames(1)
}

// writeSpans writes sets, or what of them belongs to a session: the spans that the whole
// tape has too, and the connection that they point to.
func writeSpans(w spanWriter, sets []spans.Set, session string) error {
	for _, set := range sets {
		if session != "" {
			var its []spans.Span
			for _, s := range set.Spans {
				if s.Session == session || s.Kind == spans.Connection {
					its = append(its, s)
				}
			}
			set.Spans = its
		}
		if len(set.Spans) == 0 {
			continue
		}
		if err := w.Write(set); err != nil {
			return err
		}
	}
	return nil
}

// spansTape says what spans need to know of a tape before its frames.
func spansTape(t *record.Tape, info *record.Info) (spans.Tape, error) {
	tape := spans.Tape{
		ID: info.Tape, Start: info.Start.Time, Name: info.Start.Name, Parent: info.Start.Parent.Tape, Transport: info.Start.Transport,
		Connection: info.Connection,
	}
	var err error
	if tape.ID == "" {
		tape.ID, err = hashedID(t)
	}
	return tape, err
}

// hashedID returns an id for what has none, such as a tape written by hand: a hash of its
// frames.
func hashedID(t *record.Tape) (string, error) {
	h := sha256.New()
	for f, err := range t.Frames(1) {
		if err != nil {
			continue // told of when it is read again
		}
		if _, err := fmt.Fprintf(h, "%d %d %d ", f.Seq, f.Dir, len(f.Raw)); err != nil {
			return "", err
		}
		if _, err := h.Write(f.Raw); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("sha256-%x", h.Sum(nil)[:8]), nil
}
