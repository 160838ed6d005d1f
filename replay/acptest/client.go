package acptest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/drive"
)

// Client plays the client of the tape at path, in the portable form, to an agent under
// test, and compares the two conversations. A difference fails the test, with a unified
// diff. By the time Client returns, the agent has exited. Client never changes the tape.
//
// agent is a program and its arguments; see [Command] for an agent that is a function of
// the test. The agent runs in the test's directory, its stderr goes to the test log, and
// its sessions work in a new directory unless set sets another.
//
// If tapes of MCP servers are next to the file, as acptap export --mcp writes them
// (NAME.mcp.SERVER.jsonl next to NAME.jsonl), the agent gets these instead of the servers
// that the client configured, and no server runs. The test then fails if the agent asks
// for something that is not on their tapes, or if a server has no tape. TestMain must
// call [Main].
func Client(t testing.TB, path string, agent []string, set ...func(*drive.Client)) {
	t.Helper()
	tape, err := record.OpenFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("%v; acptap export -o %s makes it of what acptap proxy has recorded", err, path)
	case err != nil:
		t.Fatal(err)
	}
	c := &drive.Client{
		Tapes: []*record.Tape{tape},
		Start: record.Start{Command: agent},
		Err:   t.Output(),
	}
	for _, set := range set {
		set(c)
	}
	playServers(t, path, c)
	if c.Start.Cwd == "" {
		c.Start.Cwd = t.TempDir()
	}
	report, err := c.Run(t.Context())
	var diff strings.Builder
	report.Diff.WriteUnified(&diff, path, "now")
	switch {
	case errors.Is(err, drive.ErrDiffers):
		t.Errorf("%s: %v\n%s%s", path, err, report, &diff)
	case err != nil:
		t.Errorf("%s: %v", path, err)
	case len(report.Notes) > 0:
		t.Logf("%s:\n%s", path, report)
	}
}
