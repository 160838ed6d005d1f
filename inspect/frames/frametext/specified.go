package frametext

import (
	"slices"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A sideKey identifies one side of a dialect.
type sideKey struct {
	dialect dialect.Dialect
	side    dialect.Side
}

// specified lists each side's capabilities that are stable in its protocol. A name that
// ends with a dot is only a group, which itself offers nothing. Any other is true, or an
// object, if it is offered. Sources: ACP's initialization.mdx and schema of version 1
// (2026-06), of its drafts of version 2 (2026-06, 2026-07); MCP's schema.ts of 2025-11-25
// and 2026-07-28. Built at first use, so proxies do not pay for it at startup.
var specified = sync.OnceValue(func() map[sideKey][]string {
	return map[sideKey][]string{
		{dialect.ACPv1, dialect.ClientSide}: strings.Fields(`fs. fs.readTextFile fs.writeTextFile terminal auth. auth.terminal
		session. session.configOptions. session.configOptions.boolean elicitation. elicitation.form elicitation.url`),
		{dialect.ACPv1, dialect.AgentSide}: strings.Fields(`loadSession promptCapabilities. promptCapabilities.image promptCapabilities.audio promptCapabilities.embeddedContext
		mcpCapabilities. mcpCapabilities.http mcpCapabilities.sse sessionCapabilities. sessionCapabilities.list sessionCapabilities.delete
		sessionCapabilities.additionalDirectories sessionCapabilities.resume sessionCapabilities.close auth. auth.logout`),
		{dialect.ACPv2Early, dialect.AgentSide}: strings.Fields(`session session.prompt. session.prompt.image session.prompt.audio session.prompt.embeddedContext
		session.mcp. session.mcp.stdio session.mcp.http session.load session.list session.delete session.additionalDirectories session.resume session.close
		auth. auth.logout`),
		{dialect.ACPv2, dialect.ClientSide}: strings.Fields(`auth. auth.terminal elicitation. elicitation.form elicitation.url`),
		{dialect.ACPv2, dialect.AgentSide}: strings.Fields(`session session.prompt. session.prompt.image session.prompt.audio session.prompt.embeddedContext
		session.mcp. session.mcp.stdio session.mcp.http session.delete session.additionalDirectories`),
		{dialect.MCPLegacy, dialect.ClientSide}: strings.Fields(`roots roots.listChanged sampling elicitation experimental.`),
		{dialect.MCPLegacy, dialect.AgentSide}: strings.Fields(`tools tools.listChanged prompts prompts.listChanged resources resources.subscribe resources.listChanged
		completions logging experimental.`),
		{dialect.MCPModern, dialect.ClientSide}: strings.Fields(`sampling elicitation experimental.`),
		{dialect.MCPModern, dialect.AgentSide}: strings.Fields(`tools tools.listChanged prompts prompts.listChanged resources resources.subscribe resources.listChanged
		completions logging experimental.`),
	}
})

// speakers returns the sides that may send capabilities under a key of initialize in a
// protocol version: a number in ACP, a text in MCP.
func speakers(key string, version wire.Value) []sideKey {
	switch {
	case key == "clientCapabilities":
		return []sideKey{{dialect.ACPv1, dialect.ClientSide}}
	case key == "agentCapabilities":
		return []sideKey{{dialect.ACPv1, dialect.AgentSide}}
	case version.IsNumber():
		return []sideKey{{dialect.ACPv2Early, dialect.AgentSide}, {dialect.ACPv2, dialect.ClientSide}, {dialect.ACPv2, dialect.AgentSide}}
	}
	return []sideKey{{dialect.MCPLegacy, dialect.ClientSide}, {dialect.MCPLegacy, dialect.AgentSide}}
}

// isOffered reports whether the value at a path offers it. A group is offered if any member
// is.
func isOffered(known []string, path string, v wire.Value) bool {
	if !v.IsObject() {
		return !v.IsFalse() && !v.IsNull()
	}
	if !slices.Contains(known, path+".") {
		return true
	}
	offered := false
	v.ForEach(func(key, value wire.Value) bool {
		offered = key.Text() != "_meta" && isOffered(known, path+"."+key.Text(), value)
		return !offered
	})
	return offered
}

// absent returns the names of the known parts that the capability at a path lacks, except
// experimental.
func absent(known []string, path string, v wire.Value) (names []string) {
	if path != "" {
		path += "."
	}
	for _, k := range known {
		name, ok := strings.CutPrefix(strings.TrimSuffix(k, "."), path)
		if ok && name != "" && !strings.Contains(name, ".") && name != "experimental" && !v.Get(wire.EscapeKey(name)).Exists() {
			names = append(names, name)
		}
	}
	return names
}
