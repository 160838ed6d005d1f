package replay_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

func TestManners(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		for _, r := range robots {
			t.Run(filepath.Base(path)+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				tape := replaytest.Open(t, path)
				info, err := tape.Info()
				if err != nil {
					t.Fatal(err)
				}
				checkRobot(t, r, tape, replay.Agent{Cwd: info.Start.Cwd})
			})
		}
	}
}

// checkRobot lets a robot talk to a replayed agent. Time passes only when both
// wait, so how busy the machine is makes no difference.
func checkRobot(t *testing.T, r robot, tape *record.Tape, agent replay.Agent) {
	t.Helper()
	var s *scene
	var report replay.Report
	var err error
	synctest.Test(t, func(t *testing.T) { s, report, err = r.run(t, tape, agent) })
	if r.patience && len(s.mine) < clientMessages(s.all) {
		if err == nil || len(report.Misses)+report.Left == 0 {
			t.Errorf("a cancel that never came is no miss: %v\n%s", err, &report)
		}
		return
	}
	if err != nil || report.Matched+len(report.Notes) < report.Received {
		t.Errorf("%v\n%+v\n%s", err, report, &report)
	}
	var want []string
	for _, l := range s.all {
		if !l.fromClient() {
			want = append(want, string(l.raw))
		}
	}
	if d := cmp.Diff(transcript(s.lines, s.recordedID), transcript(want, func(id string) string { return id })); d != "" {
		t.Errorf("what the agent said (-got +want):\n%s", d)
	}
}

func clientMessages(all []line) (n int) {
	for _, l := range all {
		if l.fromClient() && l.e.Method != nil {
			n++
		}
	}
	return n
}
