// Package frametext describes frames: as a one-line summary specific to the method or
// kind of update; as rows of a list in columns, plain, in colour or for a screen; and as
// JSON.
//
// Text from the wire is written clean: no control character, escape sequence or line
// break gets from a frame into a line. Making a summary takes no longer than reading
// wire.MaxChecked bytes, however large the frame is. The package knows nothing about
// storage or screens.
package frametext

import (
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Summary describes in one line what a frame says: the text of a chunk, the title and
// status of a tool call, the path that is read, the option that was chosen, an error's
// code and message. It accepts frames of any shape. tool is what earlier frames say about
// the tool call that f is about; then the summary names the call by its title, and a chosen
// option by its name. The result is clean, at most 500 characters long, and empty if the
// frame's bytes were not read or there is nothing to say.
func Summary(f dialect.Frame, tool filter.Tool) string {
	if len(f.Raw) > wire.MaxChecked {
		f.Raw = f.Raw[:wire.MaxChecked]
	}
	return termtext.Brief(summarize(&f, tool), MaxSummary)
}

// summarize returns the summary of a frame or of a batch entry.
func summarize(f *dialect.Frame, tool filter.Tool) string {
	switch f.Kind {
	case wire.Invalid, wire.Stderr, wire.Body:
		return termtext.Piece(string(f.Raw))
	case wire.Mark:
		return markSummary(f)
	case wire.Batch:
		return batchSummary(f)
	case wire.Oversized:
		return messageSummary(f, wire.ScanPrefix(f.Raw), tool)
	}
	return messageSummary(f, wire.Scan(f.Raw), tool)
}

func messageSummary(f *dialect.Frame, e wire.Envelope, tool filter.Tool) string {
	switch {
	case e.Method != nil:
		if text := callSummary(f.Method, f.Update, parse(f, e.Params), tool); text != "" {
			return text
		}
		return namedSession(f)
	case e.Error != nil && string(e.Error) != "null":
		return errorSummary(parse(f, e.Error))
	case e.Result != nil:
		method := f.Method
		if dialect.Wraps(method) {
			method = f.Update
		}
		return resultSummary(method, parse(f, e.Result), tool)
	}
	return termtext.Piece(string(f.Raw)) // an oversized array, or an id alone
}

// namedSession returns the session of a message that closes or deletes one and that, as
// in SEP-1364, puts the id next to the method.
func namedSession(f *dialect.Frame) string {
	if m, ok := dialect.Lookup(dialect.MCP, f.Method); ok && (m.Role.Is(dialect.Closes) || m.Role.Is(dialect.Deletes)) {
		return termtext.Piece(f.Session)
	}
	return ""
}

func callSummary(method, update string, params wire.Value, tool filter.Tool) string {
	switch {
	case dialect.Does(method, dialect.TellsUpdate):
		u := params.Get("update")
		if said, _ := dialect.LookupUpdate(update); said.Entity == dialect.ToolCall {
			return toolUpdate(said, u, tool)
		}
		if p := updatePhrases()[update]; p != nil {
			return p(u)
		}
		if u.Exists() {
			return Value(u)
		}
	case dialect.Does(method, dialect.AsksPermission):
		return permission(params, tool)
	case dialect.Does(method, dialect.Carries):
		return carried(params, false)
	case dialect.Wraps(method):
		for inner := params.Get("method").Text(); dialect.Wraps(inner) && update != ""; inner = params.Get("method").Text() {
			params = params.Get("params") // update is the innermost method
		}
		return carried(params, update != "")
	}
	if p := methodPhrases()[method].says; p != nil {
		if text := p(params); text != "" {
			return text
		}
	}
	return bare(params)
}

// carried summarizes params that contain a message. named says that the frame's name
// already is that message's method.
func carried(params wire.Value, named bool) string {
	method, inner, name := params.Get("method").Text(), params.Get("params"), ""
	if !named {
		name = termtext.Piece(method)
	}
	if update := inner.Get("update.sessionUpdate").Text(); dialect.Does(method, dialect.TellsUpdate|dialect.AsksPermission) || !dialect.Wraps(method) && methodPhrases()[method].says != nil {
		return termtext.Spaced(name, termtext.Piece(update), callSummary(method, update, inner, filter.Tool{}))
	}
	return termtext.Spaced(name, bare(inner))
}

func resultSummary(method string, result wire.Value, tool filter.Tool) string {
	if dialect.Does(method, dialect.AsksPermission) {
		return choice(result, tool)
	}
	if p := methodPhrases()[method].answers; p != nil {
		if text := p(result); text != "" {
			return text
		}
	}
	if text := bare(result); text != "" {
		return text
	}
	return "ok"
}

// errorSummary returns text such as `error -32602 no such session: "s1"`.
func errorSummary(e wire.Value) string {
	text := termtext.Spaced("error", Value(e.Get("code")), Value(e.Get("message")))
	if !e.IsObject() {
		text = termtext.Spaced("error", Value(e))
	}
	if data := Value(e.Get("data")); data != "" {
		text += ": " + data
	}
	return text
}

// batchSummary returns text such as `2 entries: tools/list; tools/call read {"path":"/a"}`.
func batchSummary(f *dialect.Frame) string {
	var text list
	wire.Entries(f.Raw, func(i int, raw []byte) bool {
		if text.n >= maxListed && len(f.Entries) > 0 {
			return false
		}
		e := wire.Scan(raw)
		entry := dialect.Frame{Frame: wire.Frame{Kind: e.Kind, Raw: raw}}
		if i < len(f.Entries) {
			entry.Annotation = f.Entries[i]
		}
		if e.Kind == wire.Batch {
			entry.Kind = wire.Invalid // JSON-RPC has no batches in batches
		}
		text.add(func() string {
			return termtext.Brief(termtext.Spaced(termtext.Piece(Name(&entry)), summarize(&entry, filter.Tool{})), termtext.MaxPiece)
		})
		return true
	})
	text.n = max(text.n, len(f.Entries))
	return text.text("entry", "entries", "; ")
}

// Name returns the name of a frame in a list: its method, or the variant of a
// session/update. For a message passed along a proxy chain it is the inner method, such as
// `» session/prompt`.
func Name(f *dialect.Frame) string { return f.Annotation.Name() }

func markSummary(f *dialect.Frame) string {
	m := wire.ReadMark(f.Frame)
	switch {
	case m.Gap != 0:
		return termtext.Grouped(m.Gap) + " bytes missing here"
	case m.Damage != 0:
		return termtext.Grouped(m.Damage) + " bytes of the tape cannot be read here"
	case m.EOF:
		return closings[min(f.Dir, wire.AgentStderr)]
	case m.Error != "":
		return breaks[min(f.Dir, wire.AgentStderr)] + " cannot be read: " + termtext.Piece(m.Error)
	case m.Signal != "":
		return "signal " + termtext.Piece(m.Signal)
	case m.Fault != "":
		return "acptap failed: " + termtext.Piece(m.Fault)
	case m.Rule != nil:
		return termtext.Piece(m.Rule.Name) + ": " + termtext.Piece(m.Rule.Did)
	case m.Load != nil:
		return "the agent's own load of the session left out " + termtext.Grouped(int64(m.Load.Missing)) + " of " + termtext.Counted(m.Load.Recorded, "tool call")
	}
	if text := streamSummary(f, m); text != "" {
		return text
	}
	switch {
	case m.Exit == nil:
		return termtext.Piece(string(f.Raw))
	case m.Exit.Error != "":
		return "agent could not be started: " + termtext.Piece(m.Exit.Error)
	case m.Exit.Signal != "":
		return "agent ended by signal " + termtext.Piece(m.Exit.Signal)
	}
	return "agent exited with status " + termtext.Grouped(int64(m.Exit.Code))
}

var (
	closings = [wire.Directions]string{"client closed its end", "agent closed its end", "agent closed stderr"}
	breaks   = [wire.Directions]string{"what the client says", "what the agent says", "the agent's stderr"}
)
