package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// noteLoad notes the session of a frame that answers a successful load.
func (j *judgement) noteLoad(f *dialect.Frame) {
	if f.Does(dialect.Restores) && f.AtAgent() && f.Events.Has(dialect.SessionOpened) && !slices.Contains(j.loaded, f.Session) {
		j.loaded = append(j.loaded, f.Session)
	}
}

// lossy compares the replays on a part of the subject with what that tape and earlier ones
// of the store recorded, and adds the losses to the checker: rule ACP223.
func (j *judgement) lossy(part int) error {
	loaded := j.loaded
	j.loaded = nil
	if len(loaded) == 0 || !slices.ContainsFunc(j.rules, func(r *conform.Rule) bool { return r.ID == "ACP223" }) {
		return nil
	}
	sessions, err := j.sub.Parts[part].Tape.Sessions()
	if err != nil {
		return err
	}
	for _, one := range sessions {
		if !slices.Contains(loaded, one.ID) {
			continue
		}
		tapes, err := j.tapesOf(one, part)
		if err != nil {
			return err
		}
		whole, err := isWhole(tapes)
		if err != nil {
			return err
		}
		if !whole {
			continue
		}
		checks, err := compare.CheckLoads(tapes, one.ID)
		if err != nil {
			return err
		}
		for _, c := range checks {
			if len(c.Losses) > 0 {
				j.checker.AddLossy(c.Request, lossyText(&c))
			}
		}
	}
	return nil
}

// tapesOf returns the tapes that hold a session, up to a part of the subject.
func (j *judgement) tapesOf(one record.SessionInfo, part int) ([]*record.Tape, error) {
	if j.sub.Session == one.ID || j.sub.Store == nil {
		return j.sub.Tapes()[:part+1], nil
	}
	return ref.TapesUntil(j.sub.Store.Dir(), one, j.sub.Parts[part].Tape)
}

// isWhole reports whether tapes are complete: an incomplete message would look changed in a
// replay.
func isWhole(tapes []*record.Tape) (bool, error) {
	for _, t := range tapes {
		if info, err := t.Info(); err != nil || info.Lost > 0 {
			return false, err
		}
	}
	return true, nil
}

// lossyText describes the losses of a replay. It quotes nothing, because what was lost is
// in other frames and may be secret.
func lossyText(c *compare.LoadCheck) string {
	counts := map[string]int{}
	for _, l := range c.Losses {
		counts[l.How]++
	}
	var parts []string
	for _, how := range []string{"missing", "changed", "doubled"} {
		if n := counts[how]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, how))
		}
	}
	return fmt.Sprintf("replayed the conversation with %s, of %s, tool calls and plans that were recorded; acptap sessions check-load names them", strings.Join(parts, ", "), termtext.Counted(c.Live, "message"))
}
