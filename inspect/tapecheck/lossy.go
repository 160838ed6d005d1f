package tapecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// lossy compares the replays on the tape with the recordings on it and earlier tapes, and
// adds the losses to the Checker: rule ACP223. The earlier tapes are those that were
// judged or, if there are none, those in the store.
func (j *Judge) lossy() error {
	loaded := j.Checker.Replayed()
	if len(loaded) == 0 {
		return nil
	}
	tape := j.tapes[len(j.tapes)-1]
	sessions, err := tape.Sessions()
	if err != nil {
		return err
	}
	for _, one := range sessions {
		if !slices.Contains(loaded, one.ID) {
			continue
		}
		tapes := j.tapes
		if len(tapes) == 1 {
			if tapes, err = tape.Until(one); err != nil {
				return err
			}
		}
		if whole, err := isWhole(tapes); err != nil {
			return err
		} else if !whole {
			continue
		}
		checks, err := compare.CheckLoads(tapes, one.ID)
		if err != nil {
			return err
		}
		for _, c := range checks {
			if len(c.Losses) > 0 {
				j.Checker.AddLossy(c.Request, lossyText(&c))
			}
		}
	}
	return nil
}

// isWhole reports whether tapes are complete: an incomplete message would look changed in
// a replay.
func isWhole(tapes []*record.Tape) (bool, error) {
	for _, t := range tapes {
		if info, err := t.Info(); err != nil || info.Lost > 0 {
			return false, err
		}
	}
	return true, nil
}

// lossyText describes a replay's losses. It quotes nothing, because the lost content is
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
