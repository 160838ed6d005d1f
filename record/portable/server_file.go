package portable

import "strings"

// ServerFile returns the file name for an MCP server's tape, which is next to the agent's
// BASE.jsonl: BASE.mcp.SERVER.jsonl, where SERVER is FileName(server).
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

// longestName is the maximum number of letters of a name in a file name.
const longestName = 60

// FileName turns a name into one that a file can have on any system: it replaces other
// characters with underscores, and truncates long names.
func FileName(name string) string {
	name = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_~.", c) {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), longestName)]
}
