package record

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// A Diagnosis is one thing that Examine checked.
type Diagnosis struct {
	What   string `json:"what"`
	Bad    bool   `json:"bad"`
	Advice string `json:"advice,omitempty"` // what to do, if it is bad
}

// Examine looks for problems in the store: owner and permissions, the disk, the catalogue,
// journals of killed proxies, leftovers, and each tape; with deep, every block of each tape
// too. It changes nothing. progress, which may be nil, receives the number of tapes done
// and in all.
func (s *Store) Examine(deep bool, progress func(done, total int)) []Diagnosis {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return []Diagnosis{{What: fmt.Sprintf("there is no store in %s yet; the first acptap proxy makes it", s.dir)}}
	}
	e := &examination{s: s}
	e.modes()
	e.disk()
	ids, journals, err := s.files()
	e.catalogue(ids, journals)
	e.notes()
	if err != nil {
		e.bad("look at its owner and permissions", "%v", err)
		return e.found
	}
	e.tapes(ids, deep, progress)
	return e.found
}

type examination struct {
	s     *Store
	found []Diagnosis
}

func (e *examination) good(format string, a ...any) {
	e.found = append(e.found, Diagnosis{What: fmt.Sprintf(format, a...)})
}

func (e *examination) bad(advice, format string, a ...any) {
	e.found = append(e.found, Diagnosis{What: fmt.Sprintf(format, a...), Bad: true, Advice: advice})
}

// modes checks owners and permissions, and looks for files that do not belong.
func (e *examination) modes() {
	if err := e.s.checkOwner(); err != nil {
		e.bad("use a store of your own: --store or ACPTAP_STORE", "%v", err)
	}
	for _, dir := range []string{e.s.dir, e.s.live(), e.s.tapes()} {
		if err := disk.CheckWritable(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.bad("nothing is recorded there; chmod u+rwx '"+dir+"', or use another store", "%v", err)
		}
	}
	before := len(e.found)
	err := filepath.WalkDir(e.s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			e.bad("look at its owner and permissions", "%v", err)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // deleted in the meantime
		}
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			e.bad("remove it: acptap does not follow links in the store", "%s is a symbolic link", path)
		case runtime.GOOS != "windows" && mode.Perm()&0o077 != 0:
			e.bad("chmod go= '"+path+"'", "%s can be read by others (%v): traffic holds prompts, files and tokens", path, mode.Perm())
		case isOddlyNamed(path):
			e.bad("remove it, or look at it with acptap show '"+path+"'", "%q is in the store, but its name is not that of a tape", path)
		case strings.Contains(d.Name(), disk.TempSuffix) && time.Since(info.ModTime()) > time.Hour:
			e.bad("remove it, if no acptap is running", "%s was left by an acptap that was killed", path)
		}
		return nil
	})
	if err == nil && len(e.found) == before {
		e.good("%s: only you can read it", e.s.dir)
	}
}

// isOddlyNamed reports whether a file is named like one of a tape, but with an invalid id.
func isOddlyNamed(path string) bool {
	name := filepath.Base(path)
	ending := filepath.Ext(name)
	return (ending == ".db" && filepath.Base(filepath.Dir(path)) == "tapes" || ending == ".lock" && filepath.Base(filepath.Dir(path)) == "live") &&
		!tapeid.IsValid(strings.TrimSuffix(name, ending))
}

func (e *examination) disk() {
	if name := disk.Remote(e.s.dir); name != "" {
		e.bad("put the store on a local disk: --store or ACPTAP_STORE", "%s is on %s, where locks do not hold: tapes stay in journals there", e.s.dir, name)
	}
	free, err := disk.Free(e.s.dir)
	switch {
	case err != nil:
		e.bad("look at the disk", "%v", err)
	case free < journal.MinFree:
		e.bad("make room, for example with acptap prune --older-than 30d", "only %d MB are free on the disk", free>>20)
	default:
		e.good("%d MB are free on the disk", free>>20)
	}
}

// catalogue checks that the catalogue has all existing tapes. A tape with a journal is
// added when the journal is sealed.
func (e *examination) catalogue(ids []string, journals map[string][]int64) {
	const rebuild = "acptap doctor --rebuild makes it anew from the tapes"
	if !disk.Exists(e.s.catalogue().Path) {
		e.good("there is no catalogue yet")
		return
	}
	known, _, err := e.s.readCatalogue(len(ids))
	if errors.Is(err, ErrDamaged) {
		e.bad(rebuild, "catalogue: %v", err)
		return
	}
	if err != nil {
		e.bad(adviceFor(err), "catalogue: %v", err)
		return
	}
	stale := 0
	for tape := range known {
		if !e.s.hasFile(tape) {
			stale++
		}
	}
	if stale > 0 {
		e.bad(rebuild, "the catalogue has %s that are gone", tapes(stale))
		return
	}
	missing, waiting := 0, 0
	for _, tape := range ids {
		_, waits := journals[tape]
		switch {
		case known[tape] != nil:
		case waits:
			waiting++
		default:
			missing++
		}
	}
	switch {
	case missing > 0:
		e.bad(rebuild, "the catalogue has %s, and lacks %d", tapes(len(known)), missing)
	case waiting == 1:
		e.good("the catalogue has %s; 1 is still in its journal", tapes(len(known)))
	case waiting > 1:
		e.good("the catalogue has %s; %d are still in their journals", tapes(len(known)), waiting)
	default:
		e.good("the catalogue has %s", tapes(len(known)))
	}
}

// tapes checks each tape, and the part of it that is still in its journal.
func (e *examination) tapes(ids []string, deep bool, progress func(done, total int)) {
	before := len(e.found)
	live := 0
	var ended, killed, empty []string
	started := map[string][]string{} // the tapes of an agent's servers, by the agent's tape
	for i, tape := range ids {
		if progress != nil {
			progress(i, len(ids))
		}
		info, ok := e.tape(tape, deep)
		if parent := info.Start.Parent.Tape; parent != "" {
			started[parent] = append(started[parent], tape)
		}
		if ok && !info.Live && info.Lines == 0 && !info.Imported {
			empty = append(empty, tape)
		}
		why := e.s.aside(tape)
		switch {
		case why != "":
			e.bad("acptap doctor --recover tries again; acptap export saves what can be read", "the journal of tape %s was set aside, because compressing it failed: %s", tape, why)
		case !ok:
		case info.Live:
			live++
		case !e.s.hasJournal(tape):
		case info.Exit != nil, info.Closed != "":
			ended = append(ended, tape)
		default:
			killed = append(killed, tape)
		}
	}
	if len(e.found) == before {
		e.good("%s can be read", tapes(len(ids)))
	}
	e.good("being recorded now: %s", tapes(live))
	for _, parent := range slices.Sorted(maps.Keys(started)) {
		if !e.s.hasTape(parent) {
			e.good("tape %s is not here; its agent started the servers on %s", parent, strings.Join(started[parent], ", "))
		}
	}
	if len(ended) > 0 {
		e.good("%s ended with %d bytes still in journals; the next acptap proxy, or acptap doctor --recover, compresses them", tapes(len(ended)), e.size(ended))
	}
	if len(empty) == 1 {
		e.good("tape %s is empty: acptap proxy was killed before anything passed; acptap rm deletes it", empty[0])
	} else if len(empty) > 1 {
		e.good("%s are empty, such as %s: acptap proxy was killed before anything passed; acptap rm deletes them", tapes(len(empty)), empty[0])
	}
	if len(killed) > 0 {
		e.bad("acptap doctor --recover, or the next acptap proxy, compresses them", "%s cut off, such as %s: acptap proxy was killed; %d bytes are in journals, and can be read", tapes(len(killed)), killed[0], e.size(killed))
	}
}

// tapes returns a number of tapes in words.
func tapes(n int) string {
	if n == 1 {
		return "1 tape"
	}
	return fmt.Sprintf("%d tapes", n)
}

func (e *examination) size(tapes []string) (total int64) {
	sizes, _ := e.s.Sizes(tapes...) // on an error the total is too small
	for _, size := range sizes {
		total += size
	}
	return total
}

// tape checks one tape. It returns false if the tape is gone or cannot be read.
func (e *examination) tape(id string, deep bool) (info Info, ok bool) {
	t, err := e.s.Open(id)
	if err == nil {
		info, err = t.Info()
	}
	if errors.Is(err, ErrNoTape) {
		return info, false // deleted in the meantime
	}
	if err != nil {
		e.bad(adviceFor(err), "tape %s: %v", id, err)
		return info, false
	}
	if deep {
		if _, err := storedFacts(e.s.tapeFile(id)); errors.Is(err, ErrDamaged) {
			e.bad("they are counted from its frames each time; acptap doctor --rebuild stores them", "tape %s: %v", id, err)
		}
		for _, err := range t.Frames(1) {
			if err != nil {
				e.bad(adviceFor(err), "tape %s: %v", id, err)
			}
		}
	}
	return info, true
}

func adviceFor(err error) string {
	switch {
	case errors.Is(err, ErrNewer):
		return "use a newer acptap for it"
	case errors.Is(err, ErrDamaged):
		return "acptap export saves what can be read; acptap rm deletes it"
	}
	return "try again"
}
