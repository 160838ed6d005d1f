package dialect

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Server is an MCP server that a client gives its agent: an entry of mcpServers in a
// request that sets up a session.
type Server struct {
	Request []byte // id of the request, as sent
	Name    string
	Kind    ServerKind
	At      wire.Span // position of the entry, a JSON object, in the frame
}

// A ServerKind says how to reach an MCP server. ACP's schemas have had these kinds since
// version 1, where only stdio has no tag.
type ServerKind uint8

// The kinds of servers.
const (
	OtherServer ServerKind = iota // of an unknown type, or without a member that its type requires
	StdioServer                   // has a string command, and perhaps args: the agent starts it
	HTTPServer                    // has a string url: streamable HTTP
	SSEServer                     // has a string url: HTTP with SSE, of MCP 2024-11-05
	ACPServer                     // hosted by the client, reached by mcp/connect
)

var serverKindNames = [...]string{"", "stdio", "http", "sse", "acp"}

// String returns stdio, http, sse or acp, or "" for OtherServer.
func (k ServerKind) String() string { return wire.Name(serverKindNames[:], uint8(k)) }

// maxServers limits how many entries of mcpServers are read: a frame of one mebibyte can
// hold three hundred thousand.
const maxServers = 1024

// Servers returns the servers in a client's frame, in order, and how many more than
// maxServers it has. It reads all requests that set up a session, including those in a
// batch or wrapped by a component of a proxy chain. An Oversized frame has none.
func Servers(frame []byte) (list []Server, more int) {
	e := wire.Scan(frame)
	if e.Kind != wire.Batch {
		return servers(nil, 0, frame, e, 0)
	}
	for i, at := range wire.Find(frame, "#") {
		if i == maxBatch {
			break
		}
		entry := frame[at.Start:at.End]
		list, more = servers(list, more, entry, wire.Scan(entry), at.Start)
	}
	return list, more
}

// servers adds the servers of a message that begins at an offset in a frame.
func servers(list []Server, more int, message []byte, e wire.Envelope, offset int) ([]Server, int) {
	if e.Kind != wire.Request {
		return list, more
	}
	method, params, path := string(e.Method), e.Params, "params.mcpServers.#"
	for range maxInside {
		if !Wraps(method) {
			break
		}
		method, params, path = wire.Text(wire.Get(params, "method")), wire.Get(params, "params"), "params."+path
	}
	if !RoleOf(ACP, method).Is(Opens) {
		return list, more
	}
	for _, at := range wire.Find(message, path) {
		entry := message[at.Start:at.End]
		if len(entry) == 0 || entry[0] != '{' {
			continue
		}
		if len(list) == maxServers {
			more++
			continue
		}
		name, kind := serverFacts(entry)
		list = append(list, Server{Request: e.ID, Name: name, Kind: kind, At: wire.Span{Start: offset + at.Start, End: offset + at.End}})
	}
	return list, more
}

// serverFacts returns an entry's name and kind.
func serverFacts(entry []byte) (name string, kind ServerKind) {
	var typ, command, url []byte
	for key, value := range wire.Members(entry) {
		switch string(key) {
		case "name":
			name = wire.Text(value)
		case "type":
			typ = value
		case "command":
			command = value
		case "url":
			url = value
		}
	}
	kind = StdioServer
	if wire.Present(typ) {
		switch wire.Text(typ) {
		case "stdio":
		case "http":
			kind = HTTPServer
		case "sse":
			kind = SSEServer
		case "acp":
			return name, ACPServer
		default:
			return name, OtherServer
		}
	}
	way := url
	if kind == StdioServer {
		way = command
	}
	if !quoted(way) || len(way) == len(`""`) {
		return name, OtherServer
	}
	return name, kind
}

// LinkOf returns the link in an entry of mcpServers, as an agent run under acptap proxy
// --mcp received it: from --parent TAPE/LINK/NAME among the arguments of a command, or
// from a URL whose path begins with LINK-SECRET. It is empty if there is none.
func LinkOf(server wire.Value) string {
	args := server.Get("args").Array()
	for i, arg := range args {
		parent, ok := strings.CutPrefix(arg.Text(), "--parent=")
		if arg.Text() == "--parent" && i+1 < len(args) {
			parent, ok = args[i+1].Text(), true
		}
		if parts := strings.Split(parent, "/"); ok && len(parts) == 3 {
			return strings.Clone(parts[1])
		}
		if arg.Text() == "--" { // the rest belongs to the server
			break
		}
	}
	if _, rest, ok := strings.Cut(server.Get("url").Text(), "://127.0.0.1:"); ok {
		_, path, _ := strings.Cut(rest, "/")
		link, _, ok := strings.Cut(path, "-")
		if ok && !strings.Contains(link, "/") {
			return strings.Clone(link)
		}
	}
	return ""
}
