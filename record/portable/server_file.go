package portable

import "strings"

// ServerFile returns the name of the file for the tape of an MCP server. It is next to that
// of the agent, BASE.jsonl: BASE.mcp.SERVER.jsonl, with the server's name as in FileName.
func ServerFile(base, server string) string {
	return base + serverPart + FileName(server) + ".jsonl"
}

const serverPart = ".mcp."

// ServerInFile returns the server's name in a file name made by ServerFile.
func ServerInFile(base, file string) (server string, ok bool) {
	rest, ok := strings.CutPrefix(file, base+serverPart)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, ".jsonl")
}

// longestName is how many letters of a name a file name contains.
const longestName = 60

// FileName turns a name into one that a file can have on any system: it replaces other
// characters by underscores, and truncates long names.
func FileName(name string) string {
	name = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_~.", c) {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), longestName)]
}
