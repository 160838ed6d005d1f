package drive

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
)

// files holds the files that the agent reads and writes through the client. They exist
// only in memory: contents from the tape, and what the live agent writes.
type files struct {
	recorded []*recordedRequest // for files, in tape order
	written  map[string]string  // by path: what the live agent has written

	byPath map[string][]fileRequest // recorded, by live path
	dirs   int                      // size of the path map when byPath was built
}

// A fileRequest is an answered recorded request, with its extent at the live path.
type fileRequest struct {
	*recordedRequest
	extent
}

// An extent is a part of a file.
type extent struct{ path, line, limit string } // line and limit are JSON; empty: not given

func extentOf(params []byte) extent {
	p := wire.ValueOf(params)
	return extent{p.Get("path").Text(), p.Get("line").Raw(), p.Get("limit").Raw()}
}

func (e extent) whole() bool {
	return (e.line == "" || e.line == "null") && (e.limit == "" || e.limit == "null")
}

// of returns the recorded requests for a file, in tape order. It remaps the recorded
// paths only if dirs has grown.
func (f *files) of(path string, dirs *remap.PathMap) []fileRequest {
	if f.byPath == nil || f.dirs != dirs.Size() {
		f.byPath, f.dirs = make(map[string][]fileRequest), dirs.Size()
		for _, a := range f.recorded {
			if a.answer != nil {
				e := extentOf(dirs.Rewrite(a.params))
				f.byPath[e.path] = append(f.byPath[e.path], fileRequest{a, e})
			}
		}
	}
	return f.byPath[path]
}

// read answers fs/read_text_file from the first of these that applies: what the live
// agent has written; the recorded answers to the same request, repeating the last one; a
// part of the whole file, if the tape has that.
func (f *files) read(q *question) reply {
	want := extentOf(q.params)
	if text, ok := f.written[want.path]; ok {
		return q.text(text, want)
	}
	var last, whole *recordedRequest
	for _, a := range f.of(want.path, q.paths) {
		switch {
		case dialect.Does(a.method, dialect.WritesFile):
			if !a.failed && whole == nil {
				whole = a.recordedRequest
			}
			continue
		case a.extent == want:
			if last = a.recordedRequest; !a.used {
				return q.as(last)
			}
		}
		if a.whole() && !a.failed {
			whole = a.recordedRequest
		}
	}
	switch {
	case last != nil:
		return q.as(last)
	case whole != nil:
		return q.text(whole.content(), want)
	}
	return q.fail(wire.ResourceNotFound, "the tape does not know %s", want.path)
}

// content returns the text that the request wrote or read.
func (a *recordedRequest) content() string {
	if dialect.Does(a.method, dialect.WritesFile) {
		return wire.ValueAt(a.params, "content").Text()
	}
	return wire.ValueAt(a.answer, "result.content").Text()
}

// text replies with the given part of a text.
func (q *question) text(text string, part extent) reply {
	lines := slices.Collect(strings.Lines(text))
	first := max(int(wire.ValueOf(part.line).Int()), 1) - 1
	lines = lines[min(first, len(lines)):]
	if limit := wire.ValueOf(part.limit); limit.IsNumber() {
		lines = lines[:min(max(int(limit.Int()), 0), len(lines))]
	}
	return q.result(map[string]string{"content": strings.Join(lines, "")})
}

// write answers fs/write_text_file. Later reads return what was written. The agent can
// write only files that are on the tape.
func (f *files) write(q *question) reply {
	path := extentOf(q.params).path
	var known, wrote *recordedRequest
	for _, a := range f.of(path, q.paths) {
		known = a.recordedRequest
		if a.method == q.method && (wrote == nil || wrote.used) {
			wrote = known
		}
	}
	if known == nil {
		return q.fail(wire.InternalError, "the tape does not know %s", path)
	}
	r := q.result(struct{}{})
	if wrote != nil {
		r = q.as(wrote)
		if wrote.failed {
			return r
		}
	}
	if f.written == nil {
		f.written = make(map[string]string)
	}
	f.written[path] = wire.ValueAt(q.params, "content").Text()
	return r
}
