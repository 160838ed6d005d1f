package dialect

import (
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// A Field is one value that counts when two frames are compared. Frames are equal if they
// have the same fields; fields that only one has, or whose values differ, are the
// difference.
type Field struct {
	Path  string // below params or result, such as prompt[0].text
	Value string // JSON: a scalar, {} or [], or anything nested deeper than 64 levels; CRLF becomes LF, numbers are canonical
	Class Class
}

// A Class says what a field's value is, so that callers can map values of one run to those
// of another before comparing.
type Class uint8

// The classes.
const (
	Plain         Class = iota
	Version             // of the protocol: a newer one matches
	FilePath            // an absolute path, or a URI that may name a file
	SessionID           // made by the agent
	EditSessionID       // of next-edit suggestions, made by the agent
	RequestID           // of a JSON-RPC request
	EntityID            // of a message, tool call, plan, compaction, elicitation: made by the agent
	ChoiceID            // of a mode, model, config option or permission option, which the agent offers
	TerminalID          // made by the client in version 1
	ServerID            // of an MCP server, made by the side that hosts it
	ConnectionID        // of a connection to such a server, made by the side that hosts it
	TaskID              // of MCP, made by the receiver of a request
	ProgressToken       // made by the sender of a request
	Opaque              // a cursor or state, sent back as received
)

var classNames = [...]string{"plain", "version", "path", "session", "edit-session", "request", "entity", "choice", "terminal", "server", "connection", "task", "token", "opaque"}

// A part is something inside params or result that counts.
type part struct {
	path string // keys joined by dots; empty: all of it
	form form
}

// A form says how a part becomes fields.
type form uint8

const (
	asIs      form = iota
	asVersion      // a version, which must be high enough
	asForeign      // JSON defined elsewhere: its keys have no meaning here
	asBlocks       // what content blocks show, with adjacent text joined
	asKind         // a discriminator whose default is "id"
	asFrame        // {method, params}: the params by the rules of that method
)

var formNamesOfParts = [...]string{"", "version", "foreign", "blocks", "kind", "frame"}

// classes gives the class of a value by its key.
var classes = sync.OnceValue(func() map[string]Class {
	return map[string]Class{
		"cwd": FilePath, "path": FilePath, "oldPath": FilePath, "uri": FilePath, "additionalDirectories": FilePath,
		"sessionId":  SessionID,
		"requestId":  RequestID,
		"toolCallId": EntityID, "messageId": EntityID, "planId": EntityID, "compactionId": EntityID, "elicitationId": EntityID,
		"optionId": ChoiceID, "modeId": ChoiceID, "currentModeId": ChoiceID, "modelId": ChoiceID, "currentModelId": ChoiceID, "configId": ChoiceID,
		"terminalId":    TerminalID,
		"serverId":      ServerID,
		"acpId":         ServerID,
		"connectionId":  ConnectionID,
		"taskId":        TaskID,
		"progressToken": ProgressToken,
		"cursor":        Opaque, "nextCursor": Opaque, "requestState": Opaque,
	}
})

// details holds a method's data for comparing and describing frames.
type details struct {
	params, result []part
	ids            []IDLocation
	says, answers  string
}

// whole counts everything, for methods that do not say what counts.
var whole = []part{{}}

// of returns the details of a method in either protocol. Data-layer sessions are in
// _meta, which never counts; compare Annotation.Session instead.
func of(method string) *details {
	if m := row(AnyProtocol, method); m != nil {
		return m.details
	}
	return &details{params: whole, result: whole}
}

// MatchFields returns the fields that count in the params of a request or notification, in
// a fixed order. What a client says about itself, secrets, and _meta do not count.
func MatchFields(method string, params []byte) []Field {
	w := walker{}
	if m := row(ACP, method); m != nil {
		w.edits = m.Session == OtherParams
	}
	w.parts(params, of(method).params)
	return w.fields
}

// ResponseMatchFields returns the fields that count in the response to method. For an
// error that is its code; for most results, only that there is no error.
func ResponseMatchFields(method string, e wire.Envelope) []Field {
	if wire.Present(e.Error) {
		code := wire.Get(e.Error, "code")
		if code == nil {
			code = []byte("null") // not a success either
		}
		return []Field{{Path: "error.code", Value: canonical(code)}}
	}
	w := walker{}
	if m := row(ACP, method); m != nil {
		w.edits = m.Session == OtherResult
	}
	w.parts(e.Result, of(method).result)
	return w.fields
}

// AllMatchFields returns a field for each value in params or a result.
func AllMatchFields(value []byte) []Field {
	w := walker{all: true}
	w.walk("", "", value, false)
	return w.fields
}

// parts adds the fields of the parts. A part that is null counts as absent.
func (w *walker) parts(value []byte, parts []part) {
	for _, p := range parts {
		found, key := value, ""
		if p.path != "" {
			keys := strings.Split(p.path, ".")
			found, key = wire.Get(value, keys...), keys[len(keys)-1]
		}
		if p.form == asKind && !wire.Present(found) {
			found = []byte(`"id"`)
		}
		if !wire.Present(found) {
			continue
		}
		switch p.form {
		case asVersion:
			w.add(p.path, found, Version)
		case asBlocks:
			w.blocks(p.path, found)
		case asFrame:
			w.wrapped(found)
		default:
			w.walk(p.path, key, found, p.form == asForeign)
		}
	}
}

// wrapped adds the method of a wrapped frame, and what counts in it. Wrappings are rarely
// nested; the innermost counts whole.
func (w *walker) wrapped(frame []byte) {
	method, params := wire.Get(frame, "method"), wire.Get(frame, "params")
	w.add("method", method, Plain)
	parts := of(wire.Text(method)).params
	if len(parts) > 0 && parts[len(parts)-1].form == asFrame {
		parts = whole
	}
	inner := walker{}
	inner.parts(params, parts)
	for _, f := range inner.fields {
		f.Path = strings.TrimSuffix("params."+f.Path, ".")
		w.fields = append(w.fields, f)
	}
}

// blocks adds what content blocks show. Adjacent texts are joined, since clients may
// split them anywhere.
func (w *walker) blocks(path string, list []byte) {
	var run strings.Builder
	n := 0
	flush := func() {
		if run.Len() > 0 {
			w.addText(ElementPath(path, n)+".text", run.String())
			run.Reset()
			n++
		}
	}
	for _, block := range wire.Elements(list) {
		shows := wire.Text(wire.Get(block, "type"))
		if shows == "text" {
			run.WriteString(wire.Text(wire.Get(block, "text")))
			continue
		}
		flush()
		path := ElementPath(path, n)
		n++
		switch shows {
		case "image", "audio":
			w.below(path, block, "type", "data", "mimeType", "uri")
		case "resource_link":
			w.below(path, block, "type", "uri")
		case "resource":
			w.below(path, block, "type", "resource.uri", "resource.text", "resource.blob")
		default:
			w.walk(path, "", block, false)
		}
	}
	flush()
}

// below adds the values at some paths of a block.
func (w *walker) below(path string, block []byte, paths ...string) {
	for _, p := range paths {
		keys := strings.Split(p, ".")
		if value := wire.Get(block, keys...); wire.Present(value) {
			w.walk(path+"."+p, keys[len(keys)-1], value, false)
		}
	}
}
