package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/spans"
)

// A spanWriter writes spans in some format. Close does not close the underlying writer.
type spanWriter interface {
	Write(set spans.Set) error
	Close() error
}

// checkFormat returns an error for flags that do not apply to the format.
func (x *exporting) checkFormat(filtered bool) (err error) {
	switch x.format {
	case "jsonl":
		if x.content {
			return errors.New("--content is for --format otlp, perfetto and parquet: jsonl always has what was said")
		}
		return nil
	case "otlp":
		if x.signals, err = otlp.ParseSignals(x.list); err != nil {
			return fmt.Errorf("--signals: %w", err)
		}
	case "perfetto":
	default:
		return fmt.Errorf("--format %q: it is jsonl, otlp, perfetto or parquet", x.format)
	}
	switch {
	case filtered:
		return fmt.Errorf("--filter is for frames: --format %s writes whole turns", x.format)
	case x.findings:
		return fmt.Errorf("--findings is for --format jsonl, not %s", x.format)
	case x.raw && !x.content:
		return fmt.Errorf("--raw changes nothing: without --content, --format %s writes nothing that was said", x.format)
	}
	return nil
}

// exportSpans writes the spans of a subject. damage joins the errors for unreadable
// frames.
func (x *exporting) exportSpans(ctx context.Context, w io.Writer, sub ref.Subject, bar *cli.Progress) (damage, err error) {
	b, err := spanBuilder(x.content)
	if err != nil {
		return nil, err
	}
	agents, err := sub.Agents(sub.Parts...)
	if err != nil {
		return nil, err
	}
	r := reading.New(agents)
	if x.nested {
		if err := r.AddServers(true); err != nil {
			return nil, err
		}
	}
	tapes := ship.Tapes{Store: sub.Store}
	b.Logs = slices.Contains(x.signals, otlp.Logs)
	var out spanWriter
	for _, p := range r.Parts { // the spans of one tape after those of another
		tape, err := tapes.Describe(p.Tape, &p.Info)
		if err != nil {
			return damage, err
		}
		if out == nil {
			if out, err = x.spanWriter(w, tape); err != nil {
				return damage, err
			}
		}
		b.Next(tape)
		for f, err := range ship.Frames(p.Tape, x.content && !x.raw) {
			if ctx.Err() != nil {
				return damage, context.Cause(ctx)
			}
			if err != nil {
				damage = errors.Join(damage, err)
				continue
			}
			bar.Show(int64(f.Seq), int64(p.Info.Lines))
			if err := writeSpans(out, b.Add(&f), sub.Session); err != nil {
				return damage, err
			}
			if err := writeRecord(out, &b, &f, sub.Session); err != nil {
				return damage, err
			}
		}
		if p.Info.Live {
			continue
		}
		if err := writeSpans(out, b.End(), sub.Session); err != nil {
			return damage, err
		}
	}
	return damage, out.Close()
}

// spanBuilder returns a Builder with the resource that the environment sets.
func spanBuilder(content bool) (spans.Builder, error) {
	service, attrs, err := otlp.Environment(os.Getenv).Resource()
	return spans.Builder{Content: content, Service: service, Resource: attrs}, err
}

// spanWriter returns a writer for the spans of a subject whose first tape is first.
func (x *exporting) spanWriter(w io.Writer, first spans.Tape) (spanWriter, error) {
	if x.format == "perfetto" {
		return &spans.Perfetto{W: w, Start: first.Start}, nil
	}
	if first.Start.IsZero() {
		return nil, ship.ErrNoStart
	}
	cumulative, err := otlp.Environment(os.Getenv).Cumulative()
	return &otlp.Lines{W: w, Encoder: otlp.Encoder{Version: cli.Version()}, Signals: x.signals, Meter: spans.Meter{Cumulative: cumulative}}, err
}

// writeRecord writes a log record for the frame added to b last, if logs are wanted and the
// frame belongs to the session.
func writeRecord(w spanWriter, b *spans.Builder, f *dialect.Frame, session string) error {
	lines, ok := w.(*otlp.Lines)
	if !ok || !b.Logs {
		return nil
	}
	if r, ok := b.Record(f); ok && (session == "" || r.Session == session) {
		return lines.Record(r)
	}
	return nil
}

// writeSpans writes sets. If session is not empty, it writes only the spans of that session
// and of connections, which the session's spans refer to.
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
