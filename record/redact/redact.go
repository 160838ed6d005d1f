// Package redact finds secrets in frames, command lines and single values, and replaces
// them with a placeholder.
//
// In JSON it judges by where a value is: in headers, environment variables, the parameters of
// a login, members and arguments with a name such as apiKey. In text it looks for the forms
// of known tokens and for what the text names as a secret. It misses some secrets, such as a
// password that is a word in a sentence. Redacting twice changes nothing, and JSON stays
// JSON.
//
// Where to look:
//
//	which members of JSON are secret          redact.go: scope
//	the order of the ways to search text      search.go: anyText
//	which names are secret                    words.txt, name.go
//	what a secret looks like, and what not    words.txt, value.go
//	forms of issuers' tokens                  token_forms.txt; token*.go
//	password=…, "api_key": "…", headers       assignment.go; below a name: block.go
//	options of programs                       programs.txt, arguments.go
//	other notations, as expressions           notations.txt
//	setPassword("…"), login("…", "…")         call.go
//	"the password is …", "admin / …"          mention.go
//	tables, CSV, and rows that SQL inserts    table.go
//	URLs, private keys, seed phrases, base64  url.go, private_key.go, seed.go, encoded.go
//	colours and characters without width      visible.go
//	secrets cut into pieces by streaming      redaction.go, streams.go, streamed.go
//	headers and marks of HTTP                 http_header.go
//	text that quotes frames                   quoted.go
package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Placeholder replaces a secret.
const Placeholder = "[redacted]"

// MaxSize is the longest frame that is searched for secrets. The search takes about ten
// times as much memory (TestLongestRedacted in record).
const MaxSize = 12 << 20

// Frame returns the bytes of a frame without its secrets; raw itself if it finds none. JSON
// stays JSON with the same members in the same order, and only strings that held a secret
// change. Method, ids and anything but text never change, so requests still find their
// responses.
//
// Frame recognizes a secret by its place: values of headers and of environment variables,
// the parameters of a login, members and arguments with a name such as apiKey. In any other
// text it judges by how the secret looks, and misses some.
func Frame(kind wire.Kind, raw []byte) []byte {
	switch {
	case kind.IsMessage():
		return redactJSON(raw, aMessage)
	case json.Valid(raw) && utf8.Valid(raw): // a log of JSON on stderr; strings of other bytes could not be encoded again
		return redactJSON(raw, plain)
	}
	return redactText(raw)
}

// Text returns a text that is not a frame without its secrets.
func Text(text string) string { return string(Frame(wire.Stderr, []byte(text))) }

// JSON returns a JSON object that is not a message without its secrets, such as the header
// of a portable file, whose command may contain some.
func JSON(raw []byte) []byte { return redactJSON(raw, plain) }

// redactJSON redacts valid JSON, nested no deeper than encoding/json allows.
func redactJSON(raw []byte, s scope) []byte {
	if s == aMessage && bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) {
		s = aBatch
	}
	return new(redactor).redact(raw, s, "")
}

// A scope says how to search a value for secrets.
type scope uint8

const (
	plain       scope = iota // search by the names of members, and text by its looks
	aMessage                 // a JSON-RPC message
	aBatch                   // an array of them
	aLogin                   // params of a login: all but methodId is secret
	aSecret                  // all of it is secret
	aList                    // an array of {name, value} or of NAME=VALUE, whose values are secret
	aPair                    // an element of aList
	aCommand                 // an array of arguments, or a command line
	aTelling                 // the value of a member with the name of a secret
	aConnection              // a connection string
	aSchema                  // properties of a JSON Schema: its names are those of other objects' members
	aServerList              // the MCP servers of a session
	aServer                  // one of them
	aURL                     // the URL of a server
)

// member returns the scope of a member of an object that is in scope s. first is the first
// byte of the member's value.
func (s scope) member(name, method string, first byte) scope {
	switch s {
	case aSecret:
		return aSecret
	case aLogin:
		if name == "methodId" {
			return plain
		}
		return aSecret
	case aTelling:
		if ofSecret(name) {
			return plain
		}
		return aTelling
	case aPair:
		if name == "name" {
			return plain
		}
		return aSecret
	case aSchema:
		return plain
	case aMessage:
		if name == "params" {
			switch {
			case dialect.Does(method, dialect.LogsIn):
				return aLogin
			case dialect.Wraps(method):
				return aMessage
			}
		}
	}
	switch name {
	case "properties", "$defs", "definitions":
		return aSchema
	case "mcpServers":
		if first == '[' {
			return aServerList
		}
	case "url":
		if s == aServer {
			return aURL
		}
	case "upstream": // in the header of the portable form
		return aURL
	case "args", "arguments", "argv", "command", "cmd", "commandLine", "command_line", "script", "shell", "entrypoint":
		if first != '{' {
			return aCommand
		}
	}
	if holdsVariables(name) {
		switch first {
		case '{':
			return aSecret
		case '[':
			return aList
		}
	}
	switch {
	case holdsID(name) || !isSecret([]byte(name)):
		return plain
	case first == '"' && isConnection(name):
		return aConnection
	}
	return aTelling
}

// element returns the scope of an element of an array that is in scope s.
func (s scope) element(first byte) scope {
	switch {
	case s == aBatch:
		return aMessage
	case s == aSecret, s == aLogin:
		return aSecret
	case s == aTelling:
		return aTelling
	case s == aServerList:
		return aServer
	case s == aList && first == '{':
		return aPair
	case s == aList && first == '[': // a name and a value
		return aSecret
	case s == aList, s == aCommand:
		return s
	}
	return plain
}

// A redactor copies JSON without its secrets. It recurses as deep as the text is nested,
// up to wire.MaxDepth.
type redactor struct {
	wire.Reader
	edit    edit
	deep    int    // how many strings of JSON surround this JSON
	settled int    // start of the string that is not searched, in a message; 0: none
	program string // whose arguments come next
}

// redact redacts the JSON value of the member of that name, or of an array.
func (r *redactor) redact(text []byte, s scope, name string) []byte {
	r.Text = text
	r.Skip(' ')
	r.value(s, name)
	return r.edit.text(text)
}

// value redacts the value at r.Pos of the member of that name, or of an array.
func (r *redactor) value(s scope, name string) {
	switch c := r.Text[r.Pos]; {
	case c == '{':
		r.object(s)
	case c == '[':
		r.array(s)
	case c == '"':
		r.text(s, name)
	default:
		start := r.Pos
		r.Value()
		number := c == '-' || '0' <= c && c <= '9'
		if number && (s == aSecret || s == aLogin || (s == aTelling && isSecret([]byte(name)) || isPIN([]byte(name))) && isNumericSecret([]byte(name), r.Text[start:r.Pos])) {
			r.edit.replace(r.Text, start, r.Pos, `"`+Placeholder+`"`)
		}
	}
}

func (r *redactor) object(s scope) {
	method, named := "", false
	if s == aMessage {
		method = wire.ValueAt(r.Text[r.Pos:], "method").Text()
	}
	begin := r.Pos
	r.Pos++ // the brace
	for r.next('}') {
		name := string(unquote(r.Quoted()))
		r.Skip(':')
		first := r.Text[r.Pos]
		to := s.member(name, method, first)
		switch {
		case first == '{' && (name == "data" || name == "stringData") && wire.ValueAt(r.Text[begin:], "kind").Text() == "Secret": // of Kubernetes
			to = aSecret
		case first == '[' && to == aCommand && name == "args":
			r.program = wire.ValueAt(r.Text[begin:], "command").Text()
		case first != '"':
		case name == "code" && r.isGrant(begin):
			to = aSecret
		case named && (name == "value" || name == "val"):
			to = aSecret
		case name == "name" || name == "key" || name == "header" || name == "variable" || name == "field":
			start := r.Pos
			named = isSecret(unquote(r.Quoted()))
			r.Pos = start
		}
		r.value(to, name)
	}
}

// isGrant reports whether the object at begin asks for a token with an authorization code
// (RFC 6749, section 4.1.3).
func (r *redactor) isGrant(begin int) bool {
	for _, name := range []string{"grant_type", "redirect_uri", "client_id", "code_verifier"} {
		if wire.ValueAt(r.Text[begin:], name).IsString() {
			return true
		}
	}
	return false
}

func (r *redactor) array(s scope) {
	args := arguments{program: r.program[strings.LastIndexByte(r.program, '/')+1:]}
	r.program = ""
	r.Pos++ // the bracket
	for r.next(']') {
		c := r.Text[r.Pos]
		if s == aCommand && c == '"' {
			r.argument(&args)
			continue
		}
		r.value(s.element(c), "")
	}
}

// next moves to the next member or element. It returns false after the last.
func (r *redactor) next(closing byte) bool {
	r.Skip(',')
	if r.Text[r.Pos] == closing {
		r.Pos++
		return false
	}
	return true
}

// text redacts a string that is not an argument.
func (r *redactor) text(s scope, name string) {
	start := r.Pos
	was := unquote(r.Quoted())
	now := was
	switch {
	case len(was) == 0, start > 0 && start == r.settled:
	case s == aSecret, s == aLogin:
		now = []byte(Placeholder)
	case s == aList:
		now = redactVariable(was)
	case s == aTelling && isReference(was, []byte("pwd")) && (strings.EqualFold(name, "pwd") || strings.EqualFold(name, "oldpwd")):
	case s == aTelling:
		now = []byte(Placeholder)
	case s == aCommand:
		now = redactCommand(was)
	case s == aConnection:
		if now = redactSetting(was); bytes.Equal(now, was) && !bytes.ContainsAny(was, "=/[") {
			now = []byte(Placeholder)
		}
	case s == aURL:
		now = redactPath(redactText(was))
	case holdsID(name):
	default:
		plain, encoded := recoded(name, was)
		switch {
		case encoded:
			now = plain
		case isSomeKey([]byte(name)) && isIssued(was), isPIN([]byte(name)) && isNumericSecret([]byte(name), was):
			now = []byte(Placeholder)
		case !isBinary(was):
			now = r.nested(was)
		}
	}
	r.rewrite(start, was, now)
}

// maxNested limits the levels of JSON within JSON that are searched.
const maxNested = 4

// nested redacts text that may itself be JSON.
func (r *redactor) nested(text []byte) []byte {
	if r.deep == maxNested || !isJSONText(text) {
		return redactText(text)
	}
	in := redactor{deep: r.deep + 1}
	return in.redact(text, plain, "")
}

// isJSONText reports whether a text is an object or an array.
func isJSONText(text []byte) bool {
	t := bytes.TrimSpace(text)
	return len(t) >= shortestText && (t[0] == '{' || t[0] == '[') && json.Valid(t) && utf8.Valid(t)
}

// argument redacts an argument of a command line.
func (r *redactor) argument(args *arguments) {
	start := r.Pos
	was := unquote(r.Quoted())
	from, to := args.next(was, false)
	switch {
	case from < to:
		var e edit
		e.replace(was, from, to, Placeholder)
		r.rewrite(start, was, e.text(was))
	case bytes.IndexByte(was, ' ') >= 0:
		r.rewrite(start, was, redactCommand(was))
	default:
		r.rewrite(start, was, redactSetting(was))
	}
}

// rewrite replaces the string from start to r.Pos by the text now.
func (r *redactor) rewrite(start int, was, now []byte) {
	switch {
	case bytes.Equal(was, now):
	case bytes.IndexByte(r.Text[start:r.Pos], '\\') < 0: // nothing was escaped, and nothing left or added needs to be
		r.edit.replace(r.Text, start, r.Pos, `"`+string(now)+`"`)
	default:
		r.edit.replace(r.Text, start, r.Pos, string(termtext.AppendQuoted(nil, now)))
	}
}

// unquote returns the text of a string in valid JSON.
func unquote(quoted []byte) []byte {
	text, ok := wire.Unquote(quoted)
	if !ok {
		panic("redact: a string in valid JSON cannot be read")
	}
	return text
}

// redactVariable redacts NAME=VALUE, or Name: value, of any name.
func redactVariable(s []byte) []byte {
	i := bytes.IndexAny(s, "=:") + 1
	for 0 < i && i < len(s) && s[i] == ' ' {
		i++
	}
	if i == 0 || i == len(s) {
		return s
	}
	return append(bytes.Clone(s[:i]), Placeholder...)
}
