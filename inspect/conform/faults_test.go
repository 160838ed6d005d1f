package conform_test

import (
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
)

// The tapes that faults are put into. Of their own findings see testdata/precision.txt.
const (
	tapeACP1      = "dialects/acp-v1"
	tapeACP2      = "dialects/acp-v2"
	tapeACPX      = "acpx-exec"
	tapeMCP       = "mcp-npm-go"
	tapeModern    = "mcp-go-go"
	tapeProposal1 = "dialects/mcp-sep1364-a1"
	tapeProposal2 = "dialects/mcp-sep1364-a2"
	tapeDataLayer = "dialects/mcp-data-layer"
	tapeHTTP      = "mcp-npm-everything-http"
	tapeNewHTTP   = "mcp-go-go-http"
)

// faults are those that TestRecall puts into tapes. Frames are numbered as on the original
// tape.
var faults = slices.Concat(rpcFaults, helloFaults, shapeFaults, sessionFaults, turnFaults, serviceFaults, twoFaults, mcpFaults, proposalFaults, httpFaults)

// rpcFaults are in lines and messages.
var rpcFaults = []fault{
	{"RPC001", conform.Agent, "text in Latin-1", tapeACP1, func(c *mutant) { c.change(51, "Planted.", "Gr\xfcn.") }},
	{"RPC002", conform.Agent, "a banner", tapeACP1, func(c *mutant) { c.send(3, `< Listening on stdio`) }},
	{"RPC004", conform.Agent, "two updates in one line", tapeACP1, func(c *mutant) {
		c.change(15, `{"jsonrpc"`, `[{"jsonrpc"`)
		c.change(15, `[]}}}`, `[]}}}]`)
	}},
	{"RPC005", conform.Agent, "jsonrpc 1.0", tapeACP1, func(c *mutant) { c.change(18, `"2.0"`, `"1.0"`) }},
	{"RPC005", conform.Client, "jsonrpc is a number", tapeACP1, func(c *mutant) { c.change(100, `"2.0"`, `2.0`) }},
	{"RPC006", conform.Agent, "a message that is nothing", tapeACP1, func(c *mutant) { c.send(101, `< {"note":"hello"}`) }},
	{"RPC007", conform.Client, "params are a list", tapeACP1, func(c *mutant) { c.change(100, `"params":{}`, `"params":[]`) }},
	{"RPC008", conform.Client, "an id with a fraction", tapeACP1, func(c *mutant) {
		c.change(98, `"id":20`, `"id":20.5`)
		c.change(99, `"id":20`, `"id":20.5`)
	}},
	{"RPC009", conform.Client, "an id of an open request", tapeACP1, func(c *mutant) {
		c.send(77, `> {"id":13,"method":"_garden/forecast","params":{}}`)
		c.send(81, `< {"id":13,"result":{}}`)
	}},
	{"RPC010", conform.Agent, "a second answer", tapeACP1, func(c *mutant) { c.send(101, `< {"id":21,"result":{}}`) }},
	{"RPC010", conform.Client, "an answer to nothing", tapeACP1, func(c *mutant) { c.send(99, `> {"id":"none","result":{}}`) }},
	{"RPC011", conform.Agent, "result and error", tapeACP1, func(c *mutant) { c.change(101, `"result":{}`, `"result":{},"error":{"code":-32603,"message":"no"}`) }},
	{"RPC012", conform.Agent, "an error code that is text", tapeACP1, func(c *mutant) { c.change(94, `-32603`, `"E1"`) }},
	{"RPC012", conform.Agent, "an error without a message", tapeACP1, func(c *mutant) { c.change(94, `,"message":"it rains"`, ``) }},
	{"RPC014", conform.Agent, "an answer to null", tapeACP1, func(c *mutant) { c.send(101, `< {"id":null,"error":{"code":-32000,"message":"no"}}`) }},
	{"RPC015", conform.Client, "an extension without its underscore", tapeACP1, func(c *mutant) { c.change(77, `_garden/forecast`, `garden/forecast`) }},
	{"RPC016", conform.Agent, "session/cancel of the agent", tapeACP1, func(c *mutant) { c.send(64, `< {"method":"session/cancel","params":{"sessionId":"beds-1"}}`) }},
	{"RPC017", conform.Agent, "an update as a request", tapeACP1, func(c *mutant) {
		c.change(64, `"method"`, `"id":70,"method"`)
		c.send(64, `> {"id":70,"result":{}}`)
	}},
	{"RPC018", conform.Agent, "an answer that never comes", tapeACP1, func(c *mutant) {
		c.drop(101, 103)
		c.later(102, time.Second)
	}},
	{"RPC021", conform.Client, "a batch of nothing", tapeACP2, func(c *mutant) { c.send(3, `> []`) }},
	{"RPC019", conform.Agent, "half an emoji", tapeACP1, func(c *mutant) { c.change(51, `Planted.`, `Planted \ud83c`) }},
	{"RPC020", conform.Agent, "a line of 70 KB", tapeACP1, func(c *mutant) { c.change(51, "Planted.", strings.Repeat("bean ", 14000)) }},
	{"RPC025", conform.Agent, "a text twice", tapeACP1, func(c *mutant) { c.change(51, `"text":`, `"text":"","text":`) }},
	{"RPC023", conform.Agent, "runs on without its client", tapeACP1, func(c *mutant) { c.later(104, 6*time.Second) }},
}

// helloFaults are in initialize, gates and logins.
var helloFaults = []fault{
	{"ACP101", conform.Client, "a session before initialize", tapeACP1, func(c *mutant) {
		c.send(0, `> {"id":50,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `< {"id":50,"error":{"code":-32600,"message":"initialize first"}}`)
	}},
	{"ACP102", conform.Client, "session/new does not wait for initialize", tapeACP1, func(c *mutant) {
		c.later(3, time.Second)
		c.move(4, 2)
	}},
	{"ACP104", conform.Client, "the version is text", tapeACP1, func(c *mutant) { c.change(2, `"protocolVersion":1`, `"protocolVersion":"1"`) }},
	{"ACP105", conform.Agent, "the version is text", tapeACP1, func(c *mutant) { c.change(3, `"protocolVersion":1`, `"protocolVersion":"1"`) }},
	{"ACP107", conform.Client, "no clientInfo", tapeACP1, func(c *mutant) { c.change(2, `,"clientInfo":{"name":"trowel","version":"3.1"}`, ``) }},
	{"ACP108", conform.Agent, "no agentInfo", tapeACP1, func(c *mutant) { c.change(3, `,"agentInfo":{"name":"gardener","version":"0.9"}`, ``) }},
	{"ACP109", conform.Client, "no info in version 2", tapeACP2, func(c *mutant) { c.change(2, `"info":{"name":"trowel","version":"4.0"},`, ``) }},
	{"ACP110", conform.Agent, "no info in version 2", tapeACP2, func(c *mutant) { c.change(3, `"info":{"name":"gardener","version":"2.0"},`, ``) }},
	{"ACP111", conform.Agent, "does not know session/new", tapeACP1, func(c *mutant) { c.change(5, `-32000`, `-32601`) }},
	{"ACP112", conform.Agent, "does not know session/close", tapeACP1, func(c *mutant) { c.change(84, `"result":{}`, `"error":{"code":-32601,"message":"Method not found"}`) }},
	{"ACP113", conform.Agent, "capabilities as in version 2", tapeACPX, func(c *mutant) { c.change(2, `agentCapabilities`, `capabilities`) }},
	{"ACP114", conform.Client, "does not know fs/read_text_file", tapeACP1, func(c *mutant) {
		c.change(29, `"result":{"content":"row 1: beans\nrow 2: peas\n"}`, `"error":{"code":-32601,"message":"Method not found"}`)
	}},
	{"ACP121", conform.Client, "load is not offered", tapeACP1, func(c *mutant) { c.change(3, `"loadSession":true`, `"loadSession":false`) }},
	{"ACP122", conform.Client, "resume is not offered", tapeACP1, func(c *mutant) { c.change(3, `"resume":{},`, ``) }},
	{"ACP123", conform.Client, "list is not offered", tapeACP1, func(c *mutant) { c.change(3, `"list":{},`, ``) }},
	{"ACP124", conform.Client, "delete is not offered", tapeACP1, func(c *mutant) { c.change(3, `"delete":{},`, ``) }},
	{"ACP125", conform.Client, "close is not offered", tapeACP1, func(c *mutant) { c.change(3, `"close":{},`, ``) }},
	{"ACP127", conform.Client, "directories are not offered", tapeACP1, func(c *mutant) { c.change(4, `"mcpServers"`, `"additionalDirectories":["/w"],"mcpServers"`) }},
	{"ACP128", conform.Client, "MCP over HTTP is not offered", tapeACP1, func(c *mutant) {
		c.change(11, `"mcpServers":[]`, `"mcpServers":[{"type":"http","name":"h","url":"http://h.invalid","headers":[]}]`)
	}},
	{"ACP129", conform.Client, "audio is not offered", tapeACP1, func(c *mutant) {
		c.change(21, `{"type":"text","text":"is the pond deep enough?"}`, `{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`)
	}},
	{"ACP134", conform.Agent, "forms are not offered", tapeACP1, func(c *mutant) { c.change(2, `"form":{},`, ``) }},
	{"ACP135", conform.Client, "logout is not offered", tapeACP1, func(c *mutant) { c.change(3, `{"logout":{}}`, `{}`) }},
	{"ACP501", conform.Agent, "reading is not offered", tapeACP1, func(c *mutant) { c.change(2, `"readTextFile":true`, `"readTextFile":false`) }},
	{"ACP521", conform.Agent, "terminals are not offered", tapeACP1, func(c *mutant) { c.change(2, `"terminal":true`, `"terminal":false`) }},
	{"ACP621", conform.Client, "a login that is not there", tapeACP1, func(c *mutant) { c.change(6, `"gate"`, `"door"`) }},
	{"ACP622", conform.Client, "a login in the terminal by request", tapeACP1, func(c *mutant) {
		c.change(2, `"fs"`, `"auth":{"terminal":true},"fs"`)
		c.change(3, `"name":"Garden gate"`, `"name":"Garden gate","type":"terminal"`)
	}},
	{"ACP623", conform.Agent, "a login in the terminal for a client without", tapeACP1, func(c *mutant) {
		c.change(3, `"authMethods":[`, `"authMethods":[{"id":"tui","name":"TUI","type":"terminal"},`)
	}},
	{"ACP624", conform.Client, "login without methods", tapeACP2, func(c *mutant) { c.change(3, `[{"methodId":"gate","name":"Gate","type":"agent"}]`, `[]`) }},
	{"ACP641", conform.Agent, "an elicitation under an id in use", tapeACP1, func(c *mutant) {
		c.send(61, `< {"id":60,"method":"elicitation/create","params":{"sessionId":"beds-1","mode":"url","elicitationId":"el-1","url":"https://garden.invalid/pay","message":"Pay"}}`, `> {"id":60,"result":{"action":"accept"}}`)
	}},
}

// shapeFaults are in values.
var shapeFaults = []fault{
	{"ACP001", conform.Agent, "a number for a path", tapeACP1, func(c *mutant) { c.change(46, `"cwd":"/srv/garden/pond"`, `"cwd":7`) }},
	{"ACP001", conform.Client, "a prompt that is text", tapeACP1, func(c *mutant) { c.change(66, `[{"type":"text","text":"water the beans"}]`, `"water the beans"`) }},
	{"ACP001", conform.Agent, "a status of its own", tapeACP1, func(c *mutant) { c.change(33, `"completed"`, `"done"`) }},
	{"ACP002", conform.Client, "a key of its own", tapeACP1, func(c *mutant) { c.change(89, `"cwd"`, `"colour":"red","cwd"`) }},
	{"ACP004", conform.Agent, "an update of its own", tapeACP1, func(c *mutant) { c.change(53, `session_info_update`, `weather_update`) }},
	{"ACP005", conform.Agent, "an update of version 2", tapeACP1, func(c *mutant) {
		c.change(53, `"session_info_update","title":"Beans"`, `"state_update","state":"running"`)
	}},
	{"MCP001", conform.Client, "a level that is a number", tapeMCP, func(c *mutant) { c.change(23, `"debug"`, `7`) }},
	{"MCP001", conform.Agent, "content that is text", tapeMCP, func(c *mutant) { c.change(16, `"content":[]`, `"content":"nothing"`) }},
}

// sessionFaults are in set-up, lists and loads.
var sessionFaults = []fault{
	{"ACP201", conform.Agent, "a session without an id", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `< {"id":50,"result":{}}`)
	}},
	{"ACP202", conform.Agent, "an id of another session", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `< {"id":50,"result":{"sessionId":"pond-1"}}`)
	}},
	{"ACP203", conform.Client, "a relative cwd", tapeACP1, func(c *mutant) { c.change(4, `/srv/garden/beds`, `beds`) }},
	{"ACP206", conform.Client, "a session that nobody set up", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/prompt","params":{"sessionId":"void","prompt":[]}}`, `< {"id":50,"error":{"code":-32602,"message":"no such session"}}`)
	}},
	{"ACP208", conform.Agent, "an update before its session is named", tapeACP1, func(c *mutant) { c.move(14, 12) }},
	{"ACP210", conform.Agent, "lists sessions of another directory", tapeACP1, func(c *mutant) { c.change(44, `{}`, `{"cwd":"/srv/garden/beds"}`) }},
	{"ACP211", conform.Client, "lists by a relative cwd", tapeACP1, func(c *mutant) { c.change(44, `{}`, `{"cwd":"garden/pond"}`) }},
	{"ACP212", conform.Client, "a cursor of its own", tapeACP1, func(c *mutant) { c.change(44, `{}`, `{"cursor":"2"}`) }},
	{"ACP213", conform.Agent, "lists a deleted session", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/list","params":{}}`, `< {"id":50,"result":{"sessions":[{"sessionId":"pond-2","cwd":"/srv/garden/pond"}]}}`)
	}},
	{"ACP221", conform.Agent, "loads without history", tapeACP1, func(c *mutant) { c.drop(86, 87) }},
	{"ACP222", conform.Agent, "replays after its answer", tapeACP1, func(c *mutant) { c.move(86, 88) }},
	{"ACP224", conform.Agent, "resumes with history", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/resume","params":{"sessionId":"old","cwd":"/w"}}`, `< {"method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hello"}}}}`, `< {"id":50,"result":{}}`)
	}},
}

// turnFaults are in turns, tool calls, permissions and cancelling.
var turnFaults = []fault{
	{"ACP301", conform.Agent, "a stop reason of its own", tapeACP1, func(c *mutant) { c.change(52, `end_turn`, `done`) }},
	{"ACP302", conform.Agent, "speaks after the turn", tapeACP1, func(c *mutant) { c.move(51, 52) }},
	{"ACP305", conform.Agent, "reads a file outside of turns", tapeACP1, func(c *mutant) {
		c.send(53, `< {"id":60,"method":"fs/read_text_file","params":{"sessionId":"beds-1","path":"/w/a"}}`, `> {"id":60,"result":{"content":""}}`)
	}},
	{"ACP307", conform.Agent, "ends a turn without a word", tapeACP1, func(c *mutant) {
		c.send(97, `> {"id":50,"method":"session/prompt","params":{"sessionId":"pond-1","prompt":[{"type":"text","text":"?"}]}}`, `< {"id":50,"result":{"stopReason":"end_turn"}}`)
	}},
	{"ACP321", conform.Agent, "a message of two roles", tapeACP1, func(c *mutant) {
		c.change(86, `"content"`, `"messageId":"m1","content"`)
		c.change(87, `"content"`, `"messageId":"m1","content"`)
	}},
	{"ACP401", conform.Agent, "a tool call out of nothing", tapeACP1, func(c *mutant) {
		c.send(63, `< {"method":"session/update","params":{"sessionId":"beds-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"ghost","status":"completed"}}}`)
	}},
	{"ACP402", conform.Agent, "a tool call announced twice", tapeACP1, func(c *mutant) {
		c.send(33, `< {"method":"session/update","params":{"sessionId":"beds-1","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read","status":"completed"}}}`)
	}},
	{"ACP404", conform.Agent, "a tool call that never ends", tapeACP1, func(c *mutant) { c.drop(33) }},
	{"ACP405", conform.Agent, "a relative location", tapeACP1, func(c *mutant) { c.change(25, `"/srv/garden/beds/plan.txt"`, `"plan.txt"`) }},
	{"ACP405", conform.Agent, "a relative path of a diff", tapeACP1, func(c *mutant) { c.change(34, `"/srv/garden/beds/plan.txt"`, `"plan.txt"`) }},
	{"ACP407", conform.Agent, "shows a terminal that was never made", tapeACP1, func(c *mutant) { c.change(31, `term-7`, `term-9`) }},
	{"ACP409", conform.Agent, "asks for a tool call that it has not announced", tapeACP1, func(c *mutant) { c.drop(34) }},
	{"ACP422", conform.Agent, "two options of one id", tapeACP1, func(c *mutant) { c.change(35, `"optionId":"no"`, `"optionId":"go"`) }},
	{"ACP423", conform.Client, "selects what was not offered", tapeACP1, func(c *mutant) { c.change(42, `"go"`, `"perhaps"`) }},
	{"ACP424", conform.Client, "allows after session/cancel", tapeACP1, func(c *mutant) {
		c.later(76, time.Second)
		c.change(76, `"outcome":"cancelled"`, `"outcome":"selected","optionId":"go"`)
	}},
	{"ACP441", conform.Agent, "an error for a cancelled prompt", tapeACP1, func(c *mutant) {
		c.change(82, `"result":{"stopReason":"cancelled"}`, `"error":{"code":-32603,"message":"This operation was aborted"}`)
	}},
	{"ACP441", conform.Agent, "end_turn for a cancelled prompt", tapeACP1, func(c *mutant) {
		c.later(80, time.Second)
		c.change(82, `"cancelled"`, `"end_turn"`)
	}},
	{"ACP443", conform.Agent, "goes on after cancelled", tapeACP1, func(c *mutant) { c.move(80, 82) }},
	{"ACP444", conform.Client, "cancels a request that is not open", tapeACP1, func(c *mutant) { c.send(99, `> {"method":"$/cancel_request","params":{"requestId":777}}`) }},
	{"ACP445", conform.Agent, "cancelled that nobody asked for", tapeACP1, func(c *mutant) { c.change(52, `end_turn`, `cancelled`) }},
	{"ACP446", conform.Agent, "never answers what was cancelled", tapeACP1, func(c *mutant) {
		c.drop(81, 103)
		c.later(82, time.Second)
	}},
}

// serviceFaults are in files, terminals, modes and options.
var serviceFaults = []fault{
	{"ACP502", conform.Agent, "reads a relative path", tapeACP1, func(c *mutant) { c.change(26, `/srv/garden/beds/plan.txt`, `plan.txt`) }},
	{"ACP502", conform.Agent, "a terminal in a relative cwd", tapeACP1, func(c *mutant) { c.change(28, `"/srv/garden/pond"`, `"pond"`) }},
	{"ACP522", conform.Agent, "a terminal that was never made", tapeACP1, func(c *mutant) { c.change(37, `term-7`, `term-9`) }},
	{"ACP522", conform.Agent, "a terminal after its release", tapeACP1, func(c *mutant) {
		c.send(40, `< {"id":60,"method":"terminal/kill","params":{"sessionId":"pond-1","terminalId":"term-7"}}`, `> {"id":60,"result":{}}`)
	}},
	{"ACP523", conform.Agent, "a terminal that it does not release", tapeACP1, func(c *mutant) { c.drop(39, 40, 103) }},
	{"ACP602", conform.Client, "a mode that is not offered", tapeACP1, func(c *mutant) { c.change(16, `"dig"`, `"fly"`) }},
	{"ACP605", conform.Agent, "a boolean option for a client without", tapeACP1, func(c *mutant) {
		c.change(2, `"boolean":{}`, ``)
		c.change(12, `"configOptions":[`, `"configOptions":[{"id":"loud","name":"Loud","type":"boolean","currentValue":true},`)
		c.change(19, `"configOptions":[`, `"configOptions":[{"id":"quiet","name":"Quiet","type":"select","currentValue":"a","options":[{"value":"a","name":"A"}]},`)
	}},
	{"ACP606", conform.Client, "a value that is not offered", tapeACP1, func(c *mutant) { c.change(17, `"high"`, `"abyss"`) }},
	{"ACP610", conform.Agent, "leaves out the option that was set", tapeACP1, func(c *mutant) { c.change(19, `"id":"depth"`, `"id":"width"`) }},
}

// twoFaults are in version 2 of ACP.
var twoFaults = []fault{
	{"ACP442", conform.Agent, "end_turn for work that was cancelled", tapeACP2, func(c *mutant) {
		c.later(69, time.Second)
		c.change(71, `"cancelled"`, `"end_turn"`)
	}},
	{"ACP701", conform.Client, "sets a mode", tapeACP2, func(c *mutant) {
		c.send(16, `> {"id":50,"method":"session/set_mode","params":{"sessionId":"beds-1","modeId":"x"}}`, `< {"id":50,"error":{"code":-32601,"message":"Method not found"}}`)
	}},
	{"ACP702", conform.Agent, "does not report the prompt", tapeACP2, func(c *mutant) { c.drop(19) }},
	{"ACP703", conform.Agent, "never says that it runs", tapeACP2, func(c *mutant) { c.drop(25) }},
	{"ACP704", conform.Agent, "idle without a stop reason", tapeACP2, func(c *mutant) { c.change(45, `,"stopReason":"end_turn"`, ``) }},
}

// mcpFaults are in the Model Context Protocol.
var mcpFaults = []fault{
	{"MCP101", conform.Client, "lists tools before initialize", tapeMCP, func(c *mutant) {
		c.send(0, `> {"id":"early","method":"tools/list"}`, `< {"id":"early","error":{"code":-32600,"message":"initialize first"}}`)
	}},
	{"MCP102", conform.Client, "does not wait for initialize", tapeMCP, func(c *mutant) {
		c.later(2, time.Second)
		c.send(1, `> {"id":"early","method":"tools/list"}`)
		c.send(2, `< {"id":"early","error":{"code":-32600,"message":"initialize first"}}`)
	}},
	{"MCP103", conform.Client, "is never initialized", tapeMCP, func(c *mutant) { c.drop(3) }},
	{"MCP105", conform.Client, "logging is not offered", tapeMCP, func(c *mutant) { c.change(2, `"logging":{},`, ``) }},
	{"MCP106", conform.Agent, "samples without being offered it", tapeMCP, func(c *mutant) {
		c.change(1, `"sampling":{},`, ``)
		c.send(17, `< {"id":60,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, `> {"id":60,"error":{"code":-32601,"message":"Method not found"}}`)
	}},
	{"MCP108", conform.Client, "an id for the second time", tapeMCP, func(c *mutant) {
		c.change(21, `"id":8`, `"id":7`)
		c.change(22, `"id":8`, `"id":7`)
	}},
	{"MCP109", conform.Agent, "progress of nothing", tapeMCP, func(c *mutant) { c.change(19, `"progressToken":7`, `"progressToken":70`) }},
	{"MCP110", conform.Agent, "progress that stands still", tapeMCP, func(c *mutant) { c.change(19, `"progress":2`, `"progress":1`) }},
	{"MCP111", conform.Client, "a token that is in use", tapeMCP, func(c *mutant) {
		c.send(17, `> {"id":50,"method":"tools/call","params":{"name":"list","arguments":{},"_meta":{"progressToken":7}}}`, `< {"id":50,"result":{"content":[]}}`)
	}},
	{"MCP112", conform.Client, "cancels what it never asked", tapeMCP, func(c *mutant) { c.send(22, `> {"method":"notifications/cancelled","params":{"requestId":777}}`) }},
	{"MCP114", conform.Agent, "asks for roots in 2026-07-28", tapeModern, func(c *mutant) { c.send(12, `< {"id":60,"method":"roots/list"}`) }},
	{"MCP115", conform.Client, "no capabilities in a request", tapeModern, func(c *mutant) {
		c.change(7, `io.modelcontextprotocol/clientCapabilities`, `com.example/clientCapabilities`)
	}},
	{"MCP116", conform.Agent, "a result without its type", tapeModern, func(c *mutant) { c.change(12, `,"resultType":"complete"`, ``) }},
	{"MCP116", conform.Agent, "a type of no extension", tapeModern, func(c *mutant) { c.change(12, `"resultType":"complete"`, `"resultType":"done"`) }},
	{"MCP117", conform.Agent, "a code of the specification", tapeModern, func(c *mutant) {
		c.refuse(12)
		c.change(12, `-32602`, `-32042`)
	}},
	{"MCP119", conform.Agent, "requires nothing", tapeModern, func(c *mutant) { c.change(12, `"resultType":"complete"`, `"resultType":"input_required"`) }},
	{"MCP205", conform.Client, "its roots do not change", tapeMCP, func(c *mutant) { c.change(1, `"roots":{"listChanged":true}`, `"roots":{}`) }},
	{"MCP201", conform.Agent, "a tool with a blank in its name", tapeMCP, func(c *mutant) { c.change(9, `"name":"list"`, `"name":"the list"`) }},
	{"MCP202", conform.Agent, "a tool without inputSchema", tapeMCP, func(c *mutant) { c.change(9, `"inputSchema":{"type":"object","additionalProperties":false},`, ``) }},
	{"MCP203", conform.Agent, "a result without structuredContent", tapeMCP, func(c *mutant) { c.change(13, `,"structuredContent":{"sum":1}`, ``) }},
	{"MCP203", conform.Agent, "structuredContent that does not fit", tapeMCP, func(c *mutant) { c.change(13, `{"sum":1}}}`, `{"sum":"one"}}}`) }},
	{"MCP204", conform.Client, "a cursor of its own", tapeMCP, func(c *mutant) { c.change(8, `"cursor":"In8`, `"cursor":"Xn8`) }},
	{"MCP106", conform.Agent, "asks for roots without being offered them", tapeMCP, func(c *mutant) {
		c.change(1, `"roots":{"listChanged":true},`, ``)
		c.drop(25) // notifications/roots/list_changed
		c.send(17, `< {"id":60,"method":"roots/list"}`, `> {"id":60,"error":{"code":-32601,"message":"Method not found"}}`)
	}},
	{"RPC005", conform.Agent, "no jsonrpc at all", tapeMCP, func(c *mutant) { c.change(16, `"jsonrpc":"2.0",`, ``) }},
	{"RPC008", conform.Client, "null for an id in MCP", tapeMCP, func(c *mutant) {
		c.change(23, `"id":9`, `"id":null`)
		c.change(24, `"id":9`, `"id":null`)
	}},
	{"RPC010", conform.Agent, "an answer to text instead of the number", tapeMCP, func(c *mutant) { c.change(24, `"id":9`, `"id":"9"`) }},
	{"RPC018", conform.Agent, "an answer that never comes in MCP", tapeMCP, func(c *mutant) {
		c.drop(24, 26)
		c.later(28, time.Second)
	}},
}

// proposalFaults are in the session proposals of MCP.
var proposalFaults = []fault{
	{"MCP301", conform.Client, "an id that is a number", tapeProposal1, func(c *mutant) {
		c.change(31, `"sessionId":"pond-1"`, `"sessionId":7`)
		c.refuse(32)
	}},
	{"MCP302", conform.Client, "creates what is not offered", tapeProposal1, func(c *mutant) {
		c.change(2, `,"sessions":{"required":true}`, ``)
		c.change(1, `"protocolVersion"`, `"capabilities":{},"protocolVersion"`)
	}},
	{"MCP304", conform.Client, "lists tools before it creates a session", tapeProposal1, func(c *mutant) {
		c.send(3, `> {"id":50,"method":"tools/list"}`, `< {"id":50,"error":{"code":-32602,"message":"no session"}}`)
	}},
	{"MCP305", conform.Client, "no id though sessions are required", tapeProposal1, func(c *mutant) {
		c.change(31, `"sessionId":"pond-1",`, ``)
		c.refuse(32)
	}},
	{"MCP306", conform.Agent, "serves a deleted session", tapeProposal1, func(c *mutant) {
		c.change(40, `"error":{"code":-32602,"message":"no such session"}`, `"result":{"content":[]}`)
	}},
	{"MCP307", conform.Agent, "another session than the one asked for", tapeProposal1, func(c *mutant) {
		c.change(34, `"result":{"sessionId":"beds-1"}`, `"result":{"sessionId":"beds-9"}`)
		c.change(34, `"sessionId":"beds-1"`, `"sessionId":"beds-9"`)
	}},
	{"MCP308", conform.Client, "a session that it deleted", tapeProposal1, func(c *mutant) { c.later(39, time.Second) }},
	{"MCP311", conform.Agent, "takes a session without having any", tapeMCP, func(c *mutant) {
		c.send(25, `> {"id":50,"sessionId":"s9","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}`, `< {"id":50,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}}`)
	}},
	{"MCP313", conform.Agent, "another session than the one that goes on", tapeProposal2, func(c *mutant) {
		c.send(46, `> {"id":50,"sessionId":"pond-1","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"trowel","version":"3.1"}}}`, `< {"id":50,"sessionId":"pond-7","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shed","version":"1.0"}}}`)
	}},
	{"MCP314", conform.Agent, "serves a session that was terminated", tapeProposal2, func(c *mutant) {
		c.send(48, `> {"id":50,"sessionId":"pond-1","method":"tools/call","params":{"name":"dig","arguments":{}}}`, `< {"id":50,"sessionId":"pond-1","result":{"content":[]}}`)
	}},
	{"MCP312", conform.Agent, "an id of another session", tapeProposal2, func(c *mutant) { c.change(7, `"sessionId":"pond-1"`, `"sessionId":"beds-1"`) }},
	{"MCP321", conform.Client, "creates within a session", tapeDataLayer, func(c *mutant) {
		c.change(5, `"params":{}`, `"params":{"_meta":{"io.modelcontextprotocol/session":{"sessionId":"beds-1","state":"b0"}}}`)
	}},
	{"MCP322", conform.Agent, "a session without an id", tapeDataLayer, func(c *mutant) {
		c.send(31, `> {"id":50,"method":"sessions/create","params":{}}`, `< {"id":50,"result":{"session":{}}}`)
	}},
	{"MCP323", conform.Agent, "an answer without its session", tapeDataLayer, func(c *mutant) {
		c.change(19, `,"_meta":{"io.modelcontextprotocol/session":{"sessionId":"pond-1"}}`, ``)
	}},
	{"MCP324", conform.Client, "a state that it never got", tapeDataLayer, func(c *mutant) { c.change(20, `"b1"`, `"b9"`) }},
	{"MCP326", conform.Agent, "serves a deleted session", tapeDataLayer, func(c *mutant) { c.change(29, `-32043`, `-32602`) }},
	{"MCP327", conform.Agent, "does not say which session is lost", tapeDataLayer, func(c *mutant) { c.change(29, `,"data":{"sessionId":"beds-1"}`, ``) }},
}

// httpFaults are in heads and bodies over HTTP.
var httpFaults = []fault{
	{"MCP401", conform.Client, "no events", tapeHTTP, func(c *mutant) { c.change(16, "application/json, text/event-stream", "application/json") }},
	{"MCP401", conform.Client, "no events in 2026-07-28", tapeNewHTTP, func(c *mutant) { c.change(13, "application/json, text/event-stream", "application/json") }},
	{"MCP402", conform.Client, "no events on a GET", tapeHTTP, func(c *mutant) { c.change(13, "text/event-stream", "application/json") }},
	{"MCP403", conform.Client, "no version", tapeHTTP, func(c *mutant) { c.change(23, "Mcp-Protocol-Version", "X-Version") }},
	{"MCP404", conform.Client, "an older version", tapeHTTP, func(c *mutant) { c.change(23, "2025-11-25", "2025-06-18") }},
	{"MCP404", conform.Client, "an older version than the message", tapeNewHTTP, func(c *mutant) { c.change(25, `"2026-07-28"`, `"2025-11-25"`) }},
	{"MCP405", conform.Client, "no session", tapeHTTP, func(c *mutant) { c.change(16, "Mcp-Session-Id", "X-Session") }},
	{"MCP407", conform.Agent, "200 to a notification", tapeHTTP, func(c *mutant) { c.change(11, `"status":202`, `"status":200`) }},
	{"MCP407", conform.Agent, "a body to a notification", tapeHTTP, func(c *mutant) { c.change(12, `"stream":2`, `"stream":2,"bytes":8`) }},
	{"MCP408", conform.Agent, "events of no type", tapeHTTP, func(c *mutant) { c.change(26, "text/event-stream", "text/plain") }},
	{"MCP409", conform.Agent, "a page to a GET", tapeHTTP, func(c *mutant) {
		c.change(15, "text/event-stream", "text/html")
		c.change(30, `,"error":"the client left"`, ``)
	}},
	{"MCP410", conform.Agent, "the answer on the stream of the GET", tapeHTTP, func(c *mutant) { c.frames[c.index(28)].Stream = 3 }},
	{"MCP411", conform.Client, "another tool in the head", tapeNewHTTP, func(c *mutant) { c.change(25, `"value":"nope"`, `"value":"greet"`) }},
	{"MCP414", conform.Agent, "200 to a method that is not there", tapeNewHTTP, func(c *mutant) {
		c.change(29, `"status":400`, `"status":200`)
		c.change(30, "-32602", "-32601")
	}},
	{"RPC024", conform.Agent, "a body that is no JSON", tapeNewHTTP, func(c *mutant) {
		c.change(29, `"status":400`, `"status":200`)
		c.change(30, `{"jsonrpc"`, `unknown tool {"jsonrpc"`)
	}},
}
