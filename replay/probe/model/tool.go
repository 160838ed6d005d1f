package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A kind is a purpose of tools that scripts ask for. It lists the names and parameters that
// agents use, normalized by plain, best first.
type kind struct {
	names, members []string
	contents       []string // parameters for what is written
}

var kinds = map[string]kind{
	"shell": {
		names:   []string{"bash", "shell", "shellcommand", "execcommand", "runshellcommand", "executecommand", "runcommand", "runcommands", "runterminalcmd", "runinterminal", "terminal", "execute", "exec", "run"},
		members: []string{"command", "cmd", "script", "commands"},
	},
	"read": {
		names:   []string{"read", "readfile", "readtextfile", "readfiles", "view", "viewfile", "openfile", "fsread", "cat"},
		members: []string{"filepath", "absolutepath", "path", "targetfile", "file", "filename", "paths", "files"},
	},
	"write": {
		names:    []string{"write", "writefile", "writetextfile", "createfile", "fswrite", "create"},
		contents: []string{"content", "contents", "filetext", "text"},
		members:  []string{"filepath", "absolutepath", "path", "targetfile", "file", "filename"},
	},
	"fetch": {
		names:   []string{"webfetch", "fetch", "fetchurl", "urlfetch", "readurl", "fetchwebcontent"},
		members: []string{"url", "urls", "requests", "prompt"},
	},
}

// plain returns a name in lower case, without punctuation.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// A call is a tool call with its arguments as JSON.
type call struct {
	tool
	args string
}

// choose returns a call of the tool that does what a script wants. what is a kind, or mcp with
// argument holding the tool's name and arguments.
func choose(tools []tool, what, argument string) (c call, ok bool) {
	if what == "mcp" {
		name, args, _ := strings.Cut(argument, " ")
		for _, t := range tools {
			if strings.HasSuffix(plain(t.name), plain(name)) {
				return call{t, cmp.Or(args, "{}")}, true
			}
		}
		return c, false
	}
	k, best := kinds[what], 2*len(kinds[what].names)
	for _, t := range tools {
		rank := k.rank(plain(t.name))
		if rank < best && member(t.schema, k.members) != "" {
			best, ok = rank, true
			c = call{t, string(wire.Encode(k.arguments(t.schema, argument)))}
		}
	}
	return c, ok
}

// rank returns how well a name fits: 0 is best, and twice the number of names means no match.
// A name with a matching suffix, such as developer__shell, ranks lower.
func (k *kind) rank(name string) int {
	if i := slices.Index(k.names, name); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(k.names, func(n string) bool { return strings.HasSuffix(name, n) }); i >= 0 {
		return len(k.names) + i
	}
	return 2 * len(k.names)
}

// member returns the first of names that the schema has as a property.
func member(schema wire.Value, names []string) (found string) {
	best := len(names)
	schema.Get("properties").ForEach(func(name, _ wire.Value) bool {
		if rank := slices.Index(names, plain(name.Text())); rank >= 0 && rank < best {
			best, found = rank, name.Text()
		}
		return true
	})
	return found
}

// property returns the schema of a property.
func property(schema wire.Value, name string) wire.Value {
	return schema.Get("properties." + wire.EscapeKey(name))
}

// arguments returns the arguments of a call: those that express argument, and all that the
// schema requires.
func (k *kind) arguments(schema wire.Value, argument string) map[string]any {
	values := map[string]any{}
	for _, name := range schema.Get("required").Array() {
		values[name.Text()] = instance(property(schema, name.Text()), 0)
		if strings.Contains(plain(name.Text()), "approval") {
			values[name.Text()] = true // scripts want the user to be asked
		}
	}
	if wait := member(schema, []string{"yieldtimems"}); wait != "" {
		values[wait] = 30_000 // otherwise Codex lets the model continue while the tool runs
	}
	if content := member(schema, k.contents); content != "" {
		values[content] = "acptap\n"
	}
	name := member(schema, k.members)
	switch p := property(schema, name); {
	case name == "":
	case typeOf(p) != "array":
		values[name] = argument
	case typeOf(p.Get("items")) == "object":
		values[name] = []any{k.arguments(p.Get("items"), argument)}
	case plain(name) == "command": // the words of a command
		values[name] = []string{"sh", "-c", argument}
	default:
		values[name] = []string{argument}
	}
	return values
}

// typeOf returns the type named by a schema, or "".
func typeOf(schema wire.Value) string {
	t := schema.Get("type")
	if list := t.Array(); len(list) > 0 {
		t = list[0]
	}
	return strings.ToLower(t.Text()) // Gemini writes types in capitals
}

// instance returns a minimal value that satisfies a schema.
func instance(schema wire.Value, depth int) any {
	const deepest = 8
	if list := schema.Get("enum").Array(); len(list) > 0 {
		return list[0].String()
	}
	if list := first(schema, "anyOf", "oneOf").Array(); len(list) > 0 && depth < deepest {
		return instance(list[0], depth+1)
	}
	switch typeOf(schema) {
	case "object":
		object := map[string]any{}
		for _, name := range schema.Get("required").Array() {
			if depth < deepest {
				object[name.Text()] = instance(schema.Get("properties."+wire.EscapeKey(name.Text())), depth+1)
			}
		}
		return object
	case "array":
		return []any{}
	case "number", "integer":
		return max(schema.Get("minimum").Int(), 1)
	case "boolean":
		return false
	case "null":
		return nil
	}
	return "ok"
}
