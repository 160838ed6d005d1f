package dialect

import (
	"slices"
	"sync"
)

// An Update is a row of the table of session/update variants.
type Update struct {
	Name     string
	Entity   Entity
	Form     UpdateForm
	ID       string   // path of the entity's id in params.update; empty if there is only one entity of its kind
	Says     string   // what the line of a frame says, as in methods.txt
	Text     string   // path of the text that the next chunk continues; for a terminal, output in base64
	Stable   Dialects // where it is specified
	Unstable Dialects // where it is specified as unstable
	Removed  Dialects // where it was specified once; peers still use it
}

// An Entity is what an update is about.
type Entity uint8

// The entities. Those from UserMessage to Relayed have a place in the conversation; for the
// others only the last value counts.
const (
	NoEntity Entity = iota
	UserMessage
	AgentMessage
	Thought
	ToolCall
	Plan
	Terminal
	Compaction
	Notice
	Subagents
	Relayed
	State
	Commands
	Mode
	Config
	SessionInfo
	Usage
)

// IsAttribute reports whether an entity is an attribute of the session, such as its
// title or mode, and has no place in the conversation.
func (e Entity) IsAttribute() bool { return e >= Commands }

// An UpdateForm is what an update does to its entity.
type UpdateForm uint8

// The forms.
const (
	Chunk   UpdateForm = iota // adds to it, or makes it
	Patch                     // changes only the fields that it has, or makes it
	Whole                     // makes or replaces it
	Removal                   // removes it
)

// updates is the table of the variants, from the schemas named at acpMethods.
// Version 1 knows no others; both drafts of version 2 allow any.
var updates = []Update{
	{Name: "user_message_chunk", Entity: UserMessage, Form: Chunk, ID: "messageId", Text: "content.text", Stable: one | early | two, Says: "content=block"},
	{Name: "agent_message_chunk", Entity: AgentMessage, Form: Chunk, ID: "messageId", Text: "content.text", Stable: one | early | two, Says: "content=block"},
	{Name: "agent_thought_chunk", Entity: Thought, Form: Chunk, ID: "messageId", Text: "content.text", Stable: one | early | two, Says: "content=block"},
	// From 2026-06-09 on in the early draft.
	{Name: "user_message", Entity: UserMessage, Form: Patch, ID: "messageId", Stable: early | two, Says: "=message"},
	{Name: "agent_message", Entity: AgentMessage, Form: Patch, ID: "messageId", Stable: early | two, Says: "=message"},
	{Name: "agent_thought", Entity: Thought, Form: Patch, ID: "messageId", Stable: early | two, Says: "=message"},

	// In the early draft until 2026-06-08.
	{Name: "tool_call", Entity: ToolCall, Form: Whole, ID: "toolCallId", Stable: one, Removed: early},
	{Name: "tool_call_update", Entity: ToolCall, Form: Patch, ID: "toolCallId", Stable: one | early | two},
	{Name: "tool_call_content_chunk", Entity: ToolCall, Form: Chunk, ID: "toolCallId", Text: "content.content.text", Stable: early | two}, // from 2026-06-11
	{Name: "terminal_update", Entity: Terminal, Form: Patch, ID: "terminalId", Text: "output.data", Stable: two, Says: "terminalId command exitStatus=exitStatus output.data=decoded"},
	{Name: "terminal_output_chunk", Entity: Terminal, Form: Chunk, ID: "terminalId", Text: "data", Stable: two, Says: "terminalId data=decoded"},

	{Name: "plan", Entity: Plan, Form: Whole, Stable: one, Removed: early | two, Says: "=plan"},
	{Name: "plan_update", Entity: Plan, Form: Whole, ID: "plan.planId", Stable: early | two, Unstable: one, Says: "plan=plan"}, // early: plan.id
	{Name: "plan_removed", Entity: Plan, Form: Removal, ID: "planId", Unstable: one | early | two, Says: "planId|id"},          // early: id

	{Name: "compaction_update", Entity: Compaction, Form: Patch, ID: "compactionId", Unstable: one | two, Says: "compactionId status error summary=summary"},
	{Name: "compaction_summary_chunk", Entity: Compaction, Form: Chunk, ID: "compactionId", Text: "content.text", Unstable: one | two, Says: "content=block"},
	{Name: "notice", Entity: Notice, Form: Whole, Unstable: one | two, Says: "severity title description"},

	// Not in the schemas that acptap has: see proposals.txt. The variants with spawned and
	// state are from the draft of 2026-08.
	{Name: "subagent_update", Entity: Subagents, Form: Patch, ID: "sessionId", Says: "title|sessionId description state.state state.stopReason state.error"},
	{Name: "subagent_spawned", Entity: Subagents, Form: Patch, ID: "subagentSessionId", Says: "name|subagentSessionId task"},
	{Name: "subagent_state_update", Entity: Subagents, Form: Patch, ID: "subagentSessionId", Says: "subagentSessionId state"},
	{Name: "session_message", Entity: Relayed, Form: Patch, ID: "messageId", Says: "=message"},
	{Name: "session_message_chunk", Entity: Relayed, Form: Chunk, ID: "messageId", Text: "content.text", Says: "content=block"},

	{Name: "state_update", Entity: State, Form: Whole, Stable: early | two, Says: "state stopReason"}, // from 2026-06-16
	{Name: "available_commands_update", Entity: Commands, Form: Whole, Stable: one | early | two, Says: "availableCommands#command:=command"},
	{Name: "current_mode_update", Entity: Mode, Form: Whole, Stable: one, Removed: early | two, Says: "currentModeId|modeId"},
	{Name: "config_option_update", Entity: Config, Form: Whole, Stable: one | early | two, Says: "configOptions=config"},
	{Name: "session_info_update", Entity: SessionInfo, Form: Patch, Stable: one | early | two, Says: "title updatedAt"},
	{Name: "usage_update", Entity: Usage, Form: Whole, Stable: one | early | two, Says: "=usage"},
}

// Proposed reports whether the variant is missing from the schemas that acptap has, and
// is in proposals.txt instead.
func (u *Update) Proposed() bool { return u.Stable|u.Unstable|u.Removed == 0 }

// LookupUpdate returns the row of a variant.
func LookupUpdate(variant string) (Update, bool) {
	u, ok := updatesByName()[variant]
	return u, ok
}

// updatesByName is the table by name, made on first use.
var updatesByName = sync.OnceValue(func() map[string]Update {
	all := make(map[string]Update, len(updates))
	for _, u := range updates {
		all[u.Name] = u
	}
	return all
})

// Updates returns the rows of the table.
func Updates() []Update { return slices.Clone(updates) }
