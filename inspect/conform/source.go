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

// legacyRevisions of the Model Context Protocol begin with initialize; the newest first.
var legacyRevisions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// legacyFrom returns the clauses of a text that stands in each of these revisions from
// one on, or in all if that is empty: a connection is judged by the one it agreed on.
func legacyFrom(first string, strength Strength, word, title, page string) []Clause {
	var clauses []Clause
	for i, revision := range legacyRevisions {
		c := Clause{For: legacy, Since: revision, Strength: strength, Word: word, Source: mcp(revision, title, page)}
		if revision < first {
			break
		}
		if first == "" && i == len(legacyRevisions)-1 {
			c.Since = "" // there were drafts before
		}
		clauses = append(clauses, c)
	}
	return clauses
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
