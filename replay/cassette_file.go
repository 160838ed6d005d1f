package replay

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
)

// writeStable writes a tape in the portable form, leaving out whatever varies between
// recordings of the same conversation: the tape's id and date, the command line, frame
// numbers, and fractions of a second.
func writeStable(w io.Writer, t *record.Tape) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	s := info.Start
	head := portable.Head{Start: record.Start{Name: filepath.Base(s.Command[0]), Cwd: s.Cwd}, Needs: info.Needs()}
	e, err := portable.NewExporter(w, head, t.Redaction())
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

// insert writes the contents of the file at path, with a tape's frames inserted before
// the marks at its end. It omits the tape's initialize, which the file has, and
// everything from the first request that the agent has not answered. It inserts nothing
// if the client asked for nothing else.
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
	var added [][]byte
	asked := false // the client asked for something other than initialize
	_, body, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	for line := range bytes.Lines(body) {
		f := wire.ValueAt(line, "frame")
		if f.Get("id").Raw() == initializeID || f.Get("method").Text() == dialect.NowInitialized || isMark(line) {
			continue
		}
		added = append(added, line)
	}
	added = answered(added)
	for _, line := range added {
		asked = asked || wire.ValueAt(line, "dir").Text() == wire.ClientToAgent.String()
	}
	if !asked {
		added = nil
	}
	_, err = w.Write(slices.Concat(head, bytes.Join(added, nil), tail))
	return err
}

// answered returns the lines before the client's first request that was neither answered
// nor cancelled because one side ended first. In the file such a request would count as
// recorded, and no later run would get an answer to it.
func answered(lines [][]byte) [][]byte {
	done := map[string]bool{} // requests by id
	for _, line := range lines {
		fromAgent := wire.ValueAt(line, "dir").Text() == wire.AgentToClient.String()
		for _, m := range messagesOf(line) {
			switch method := m.Get("method"); {
			case fromAgent && !method.Exists():
				done[m.Get("id").Raw()] = true
			case !fromAgent && cancelsMCP(method.Text()):
				done[m.Get("params.requestId").Raw()] = true
			}
		}
	}
	for i, line := range lines {
		if wire.ValueAt(line, "dir").Text() != wire.ClientToAgent.String() {
			continue
		}
		for _, m := range messagesOf(line) {
			if id := m.Get("id"); m.Get("method").Exists() && id.Exists() && !done[id.Raw()] {
				return lines[:i]
			}
		}
	}
	return lines
}

// messagesOf returns the messages in a line: several for a batch. A line stores a long
// message as text.
func messagesOf(line []byte) []wire.Value {
	m := wire.ValueAt(line, "frame")
	if text := wire.ValueAt(line, "text"); !m.Exists() && text.Exists() {
		m = wire.ValueOf(text.Text())
	}
	switch {
	case m.IsArray():
		return m.Array()
	case m.IsObject():
		return []wire.Value{m}
	}
	return nil
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
	v := wire.ValueOf(line)
	return slices.ContainsFunc([]string{"eof", "exit", "signal", "error", "fault", "rule"}, func(name string) bool { return v.Get(name).Exists() })
}
