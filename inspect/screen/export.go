package screen

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// askExport writes the agent's visible frames to a file in the portable form. Servers'
// frames have their own tapes. name is the suggested file name.
func (a *app) askExport(name string) {
	a.askFile("export what the filter shows"+ofAgent(a.timeline)+" to: ", name, a.exportTo)
}

// ofAgent returns text saying that only the agent's frames are meant, if there may be
// others.
func ofAgent(t *frameindex.Timeline) string {
	if t.HasServers() {
		return " of the agent"
	}
	return ""
}

// tapeFile returns a file name for the tape. A session's ID may be a path, so it is not
// used.
func (a *app) tapeFile() string {
	id := a.timeline.Agents()[0].Tape.ID()
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }
	if id == "" || strings.ContainsFunc(id, odd) { // a file may contain any ID
		id = "tape"
	}
	return id + ".jsonl"
}

var errNotJudged = errors.New("the tape was closed before it was judged, which the filter asks for")

// exportTo exports in the background. If that fails, the user can change the name.
func (a *app) exportTo(path string) error {
	want, info := frameindex.NewMatcher(a.scan.Filter, a.model.start), a.info
	want.KnowOpen(a.snapshot.Open) // as on the screen, regardless of what is recorded meanwhile
	t, judge, last := a.timeline, a.found, a.snapshot.Last
	a.notify("exporting…")
	a.jobs.Go(func() {
		frames := 0
		var damage error
		err := disk.WriteFile(path, func(w io.Writer) (err error) {
			if want.Filter.NeedsFindings() {
				if !judge.Await(a.ctx, last) {
					return errNotJudged
				}
				want.Findings = judge.Findings
			}
			t, err := t.Reopen()
			if err != nil {
				return err
			}
			frames, damage, err = frameindex.Export(a.ctx, w, t, want, info)
			return err
		})
		done := fmt.Sprintf("%s frames%s written to %s, secrets redacted", termtext.Grouped(int64(frames)), ofAgent(t), termtext.Piece(path))
		a.updates.post(func() {
			switch {
			case err == nil && damage == nil:
				a.notify(done)
			case err == nil:
				a.fail(fmt.Errorf("%s, but a part cannot be read: %w", done, damage))
			case a.prompt == nil && a.timeline != nil:
				a.askExport(path)
				a.prompt.fault(err)
			default:
				a.fail(err)
			}
		})
	})
	return nil
}
