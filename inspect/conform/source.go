package conform

import "strings"

// The documents that the rules are from, as they were read.
const (
	acpSite = "https://agentclientprotocol.com/protocol/"
	mcpSite = "https://modelcontextprotocol.io/specification/"
	Date    = "2026-08-22" // of both specifications
)

// acp1 returns a page of version 1 of the Agent Client Protocol. page may have a
// section behind a #.
func acp1(title, page string) Source { return Source{"ACP v1, " + title, acpSite + "v1/" + page} }

// acp2 returns a page of version 2.
func acp2(title, page string) Source { return Source{"ACP v2, " + title, acpSite + "v2/" + page} }

// mcp returns a page of a revision of the Model Context Protocol.
func mcp(revision, title, page string) Source {
	return Source{"MCP " + revision + ", " + title, mcpSite + revision + "/" + page}
}

// jsonrpc returns a section of JSON-RPC 2.0.
func jsonrpc(title, section string) Source {
	return Source{"JSON-RPC 2.0, " + title, "https://www.jsonrpc.org/specification#" + section}
}

// Section returns the title without the document, such as "Prompt Turn, Cancellation".
func (s Source) Section() string {
	_, section, _ := strings.Cut(s.Title, ", ")
	return section
}
