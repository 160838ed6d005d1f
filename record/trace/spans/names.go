package spans

// Names of the conventions open-telemetry/semantic-conventions-genai, v0.1.0 (all of
// gen_ai.* and mcp.* is in development), and open-telemetry/semantic-conventions, v1.45.0
// (error.type, network.* and rpc.* are stable), as of 2026-11-23. The required
// gen_ai.provider.name is missing here: a proxy between a client and an agent cannot know
// it.

// SchemaURL is the schema of the first of these conventions.
const SchemaURL = "https://opentelemetry.io/schemas/gen-ai/0.1.0"

const (
	errorType        = "error.type"
	networkTransport = "network.transport"
	networkProtocol  = "network.protocol.name"
	serviceName      = "service.name"
	serviceVersion   = "service.version"
	serviceInstance  = "service.instance.id"
	rpcSystem        = "rpc.system.name"
	rpcMethod        = "rpc.method"
	rpcStatus        = "rpc.response.status_code"
	requestID        = "jsonrpc.request.id"
	jsonrpcVersion   = "jsonrpc.protocol.version"
	filePath         = "file.path"
	mcpMethod        = "mcp.method.name"
	mcpProtocol      = "mcp.protocol.version"
	mcpSession       = "mcp.session.id"
	mcpResource      = "mcp.resource.uri"
	operation        = "gen_ai.operation.name"
	agentName        = "gen_ai.agent.name"
	agentVersion     = "gen_ai.agent.version"
	conversation     = "gen_ai.conversation.id"
	requestModel     = "gen_ai.request.model"
	finishReasons    = "gen_ai.response.finish_reasons"
	timeToFirstChunk = "gen_ai.response.time_to_first_chunk"
	inputTokens      = "gen_ai.usage.input_tokens"
	outputTokens     = "gen_ai.usage.output_tokens"
	reasoningTokens  = "gen_ai.usage.reasoning.output_tokens"
	cacheReadTokens  = "gen_ai.usage.cache_read.input_tokens"
	cacheWriteTokens = "gen_ai.usage.cache_write.input_tokens"
	promptName       = "gen_ai.prompt.name"
	toolName         = "gen_ai.tool.name"
	toolCallID       = "gen_ai.tool.call.id"
	toolArguments    = "gen_ai.tool.call.arguments"
	toolResult       = "gen_ai.tool.call.result"
	inputMessages    = "gen_ai.input.messages"
	outputMessages   = "gen_ai.output.messages"
	tokenType        = "gen_ai.token.type"
)

// Names of our own: ACP has no conventions.
const (
	tapeID          = "acptap.tape"
	frameNumber     = "acptap.frame"
	stillOpen       = "acptap.open"
	frameCount      = "acptap.frames"
	byteCount       = "acptap.bytes"
	lostBytes       = "acptap.lost_bytes"
	exitCode        = "acptap.exit.code"
	exitSignal      = "acptap.exit.signal"
	clientName      = "acptap.client.name"
	clientVersion   = "acptap.client.version"
	protocolName    = "acptap.protocol"
	protocolVersion = "acptap.protocol.version"
	linkKind        = "acptap.link"
	withdrawn       = "acptap.cancelled"
	outlasts        = "acptap.outlasts_parent"
	direction       = "acptap.dir"
	origin          = "acptap.origin"

	updateKind        = "acp.update"
	turnNumber        = "acp.turn.number"
	turnUser          = "acp.turn.user_seconds"
	turnClient        = "acp.turn.client_seconds"
	turnTool          = "acp.turn.tool_seconds"
	turnAgent         = "acp.turn.agent_seconds"
	contextTokens     = "acp.context.tokens"
	costAmount        = "acp.cost.amount"
	costCurrency      = "acp.cost.currency"
	toolKind          = "acp.tool.kind"
	toolStatus        = "acp.tool.status"
	toolTitle         = "acp.tool.title"
	toolPaths         = "acp.tool.paths"
	permissionOutcome = "acp.permission.outcome"
	permissionKind    = "acp.permission.option_kind"
	outputRole        = "acp.role"
	outputChunks      = "acp.chunks"
	outputChars       = "acp.chars"
	outputSeconds     = "acp.seconds"
	planEntries       = "acp.plan.entries"
	planCompleted     = "acp.plan.completed"
	modeID            = "acp.mode.id"
)

// Names of metrics.
const (
	agentDuration     = "gen_ai.invoke_agent.duration"
	toolDuration      = "gen_ai.execute_tool.duration"
	mcpDuration       = "mcp.client.operation.duration"
	timeToFirstOutput = "acp.turn.time_to_first_output"
	permissionWait    = "acp.permission.wait"
	turnTokens        = "acp.turn.tokens"
)

// Names of events.
const (
	firstOutputEvent = "first_output"
	outputEvent      = "acp.output"
	planEvent        = "acp.plan"
	cancelEvent      = "acp.cancel"
	modeEvent        = "acp.mode"
)

// Values of error.type that are not codes of JSON-RPC.
const (
	toolError = "tool_error" // a tool failed, or an MCP server returned isError
	agentGone = "agent_gone" // the agent died before it finished
)

const (
	maxName  = 1 << 10  // bytes of a name received from either side
	maxValue = 64 << 10 // bytes of content
)
