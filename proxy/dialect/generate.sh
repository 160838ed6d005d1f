#!/usr/bin/env bash
# Writes names.txt from the schemas that are published for ACP and MCP, of two checkouts:
#
#	generate.sh agent-client-protocol modelcontextprotocol
#
# A line is: protocol, method, sender, form, and the versions that have it; with ? those
# of which only the unstable schema has it.
set -euo pipefail
acp=$1 mcp=$2
early=5b23efb0 # the draft of version 2 as it was on 2026-06-24

# of_acp VERSION COMMIT FOLDER
of_acp() {
	local suffix
	for suffix in "" .unstable; do
		jq -r --arg version "$1" --arg unstable "${suffix:+?}" '
			.["$defs"] | to_entries
			| map(select(.value["x-method"]) | {method: .value["x-method"], side: .value["x-side"], form: (.key | capture("(?<form>Request|Notification)$").form)})
			| group_by(.method)[]
			| [.[0].method,
				{agent: "client", client: "agent", protocol: "either", both: "either"}[.[0].side],
				(if (map(.form) | unique | length) == 2 then "any" else (.[0].form | ascii_downcase) end),
				$version + $unstable] | join(" ")' <(git -C "$acp" show "$2:$3/schema$suffix.json")
	done | awk '{ key = $1 " " $2 " " $3 } !seen[key]++ { print "acp " key, $4 }'
}

# of_mcp REVISION
of_mcp() {
	jq -r --arg revision "$1" '
		(.definitions // .["$defs"]) as $defs
		| def methods($union): [$defs[$union] // {} | .properties.method.const // empty, (.. | objects | .["$ref"]? // empty | split("/")[-1] as $name | $defs[$name].properties.method.const? // empty)];
		{request: [methods("ClientRequest"), methods("ServerRequest")], notification: [methods("ClientNotification"), methods("ServerNotification")]}
		| to_entries[] | .key as $form | .value as [$client, $server]
		| ($client + $server | unique)[] as $method
		| [$method, (if ($client | index($method)) == null then "agent" elif ($server | index($method)) == null then "client" else "either" end), $form, $revision]
		| join(" ")' <(git -C "$mcp" show "HEAD:schema/$1/schema.json") | sed 's/^/mcp /'
}

{
	echo "# Made by generate.sh from agent-client-protocol $(git -C "$acp" log -1 --format='%h of %cs') and modelcontextprotocol $(git -C "$mcp" log -1 --format='%h of %cs')."
	{
		of_acp v1 HEAD schema/v1
		of_acp v2-early "$early" schema/v2
		of_acp v2 HEAD schema/v2
		for revision in $(git -C "$mcp" ls-tree --name-only HEAD schema/ | grep -o '20..-..-..'); do
			of_mcp "$revision"
		done
	} | awk '{ key = $1 " " $2 }
		!(key in side) { order[n++] = key; side[key] = $3; form[key] = $4 }
		side[key] != $3 { side[key] = "either" }
		{ versions[key] = versions[key] " " $5 }
		END { for (i = 0; i < n; i++) { key = order[i]; print key, side[key], form[key] versions[key] } }'
} > "$(dirname "$0")/names.txt"
