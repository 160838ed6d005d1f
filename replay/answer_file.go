package replay

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// files are those that the agent reads and writes through the client. They are
// in memory only: what the tape read or wrote, and what the agent writes now.
type files struct {
	recorded []*asked          // fs/*, in the order of the tape
	written  map[string]string // by path: what the agent of now has written
}

// An extent is a part of a file.
type extent struct{ path, line, limit string } // the latter two are JSON, or empty

func extentOf(params []byte) extent {
	p := gjson.ParseBytes(params)
	return extent{p.Get("path").Str, p.Get("line").Raw, p.Get("limit").Raw}
}

func (e extent) whole() bool {
	return (e.line == "" || e.line == "null") && (e.limit == "" || e.limit == "null")
}

// read answers fs/read_text_file: with what was written now, else as the tape
// did, each answer once and the last one again and again, else with a part of
// what the tape knows whole.
func (f *files) read(q *question) reply {
	want := extentOf(q.params)
	if text, ok := f.written[want.path]; ok {
		return q.text(text, want)
	}
	var last *asked
	whole, known := "", false
	for _, a := range f.recorded {
		have := extentOf(q.roots.rewrite(a.params))
		if have.path != want.path || a.answer == nil {
			continue
		}
		switch {
		case a.method == "fs/write_text_file":
			if !a.failed && !known {
				whole, known = gjson.GetBytes(a.params, "content").Str, true
			}
			continue
		case have == want:
			if last = a; !a.used {
				return q.as(a)
			}
		}
		if have.whole() && !a.failed {
			whole, known = gjson.GetBytes(a.answer, "result.content").Str, true
		}
	}
	switch {
	case last != nil:
		return q.as(last)
	case known:
		return q.text(whole, want)
	}
	return q.fail(codeNoFile, "the tape does not know %s", want.path)
}

// text answers with a part of a text.
func (q *question) text(text string, part extent) reply {
	lines := slices.Collect(strings.Lines(text))
	first := max(int(gjson.Parse(part.line).Int()), 1) - 1
	lines = lines[min(first, len(lines)):]
	if limit := gjson.Parse(part.limit); limit.Type == gjson.Number {
		lines = lines[:min(max(int(limit.Int()), 0), len(lines))]
	}
	return q.result(map[string]string{"content": strings.Join(lines, "")})
}

// write answers fs/write_text_file. What is written is read from then on. Only
// files that the tape knows can be written.
func (f *files) write(q *question) reply {
	path := extentOf(q.params).path
	var known, wrote *asked
	for _, a := range f.recorded {
		if extentOf(q.roots.rewrite(a.params)).path != path || a.answer == nil {
			continue
		}
		known = a
		if a.method == q.method && (wrote == nil || wrote.used) {
			wrote = a
		}
	}
	if known == nil {
		return q.fail(codeInternal, "the tape does not know %s", path)
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
	f.written[path] = gjson.GetBytes(q.params, "content").Str
	return r
}
