package replay

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
)

// writeStable writes a tape in the portable form, without what differs between
// recordings of the same conversation: the tape's id and date, the command line, frame
// numbers, and fractions of a second.
func writeStable(w io.Writer, t *record.Tape) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	s := info.Start
	info.Tape, info.Start = "", record.Start{Name: filepath.Base(s.Command[0]), Cwd: s.Cwd}
	e, err := portable.NewExporter(w, info.Tape, info.Start, info.Needs(), false)
	if err != nil {
		return err
	}
	e.Stable = true
	for f, err := range t.Frames(1) {
		if err != nil {
			return err
		}
		if f.Dir == wire.AgentStderr && wire.ReadMark(f.Frame).EOF {
			continue // its order relative to the end of stdout is random
		}
		if err := e.Write(t, f); err != nil {
			return err
		}
	}
	return e.Close()
}

// insert writes the contents of the file at path, with the frames of a tape inserted
// before the marks at its end. It leaves out the tape's initialize, which the file has.
// It inserts nothing if the agent was asked for nothing else.
func insert(w io.Writer, path string, t *record.Tape) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeStable(&b, t); err != nil {
		return err
	}
	head, tail := cutMarks(old)
	var added []byte
	asked := false // the agent was asked for something other than initialize
	_, body, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	for line := range bytes.Lines(body) {
		f := gjson.GetBytes(line, "frame")
		if f.Get("id").Raw == initializeID || f.Get("method").Str == "notifications/initialized" || isMark(line) {
			continue
		}
		asked = asked || gjson.GetBytes(line, "dir").Str == wire.ClientToAgent.String()
		added = append(added, line...)
	}
	if !asked {
		added = nil
	}
	_, err = w.Write(slices.Concat(head, added, tail))
	return err
}

// cutMarks splits a portable file before the marks at its end.
func cutMarks(file []byte) (head, tail []byte) {
	if len(file) > 0 && file[len(file)-1] != '\n' {
		file = append(file, '\n')
	}
	end := len(file)
	for end > 0 {
		begin := bytes.LastIndexByte(file[:end-1], '\n') + 1
		if line := bytes.TrimSpace(file[begin:end]); len(line) > 0 && !isMark(line) {
			break
		}
		end = begin
	}
	return file[:end], file[end:]
}

// isMark reports whether a line of a portable file is an event, not a frame.
func isMark(line []byte) bool {
	for _, mark := range gjson.GetManyBytes(line, "eof", "exit", "signal", "error", "fault", "rule") {
		if mark.Exists() {
			return true
		}
	}
	return false
}
