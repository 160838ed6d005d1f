package trace

import (
	"encoding/json"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A State holds the properties of a session that have no history: each value replaces the
// previous one.
type State struct {
	Mode      string          `json:"mode,omitzero"`               // id; version 1
	Model     string          `json:"model,omitzero"`              // id; version 1 before 2026-06, which had no option for the model
	Config    json.RawMessage `json:"configOptions,omitempty"`     // configOptions, the complete list; nil if there are none
	Commands  json.RawMessage `json:"availableCommands,omitempty"` // availableCommands, the complete list; nil if there are none
	Usage     *Usage          `json:"usage,omitempty"`             // nil if not reported
	Title     string          `json:"title,omitzero"`              // the agent's
	UpdatedAt string          `json:"updatedAt,omitzero"`          // as sent
	Work      string          `json:"work,omitzero"`               // running, idle, requires_action; version 2

	modes, models map[string]string // their names by id

	ModelOption string `json:"-"` // the value of the first option of category model (ACP, "Session Config Options")

	reopened bool // no cost was reported since the session was loaded or resumed
}

// Usage says how much of the model's context is used.
type Usage struct {
	Used uint64          `json:"used"` // tokens
	Size uint64          `json:"size"` // tokens
	Cost json.RawMessage `json:"cost,omitempty"`

	Reported dialect.Cost `json:"-"` // total cost of the session
	Peak     uint64       `json:"-"` // the highest Used

	last   dialect.Cost // the last valid Cost
	before float64      // total cost when the agent last restarted its count
}

// update applies an update that adds nothing to the conversation. It reports whether
// u was such an update.
func (s *State) update(f *frame, u wire.Value) bool {
	switch f.Update {
	case "available_commands_update":
		f.setRaw(&s.Commands, u.Get("availableCommands"))
	case "config_option_update":
		s.configure(f, u.Get("configOptions"))
	case "current_mode_update":
		f.setString(&s.Mode, u.Get("modeId")) // the name in version 1's prose; the schema uses another
		f.setString(&s.Mode, u.Get("currentModeId"))
	case "session_info_update":
		// In these fields null clears in all dialects.
		setNullable(&s.Title, u.Get("title"))
		setNullable(&s.UpdatedAt, u.Get("updatedAt"))
	case "usage_update":
		s.use(f, u)
	case "state_update":
		f.setString(&s.Work, u.Get("state"))
	default:
		return false
	}
	return true
}

// use applies a usage_update. Agents report the total cost of a session, but some, such as
// Claude Code, restart at zero after loading it.
func (s *State) use(f *frame, u wire.Value) {
	cost := dialect.CostOf(u.Get("cost"))
	now := &Usage{Used: min(u.Get("used").Uint(), maxCount), Size: min(u.Get("size").Uint(), maxCount)}
	if now.Peak = now.Used; s.Usage != nil {
		now.Peak = max(now.Peak, s.Usage.Peak)
		now.Reported, now.last, now.before = s.Usage.Reported, s.Usage.last, s.Usage.before
	}
	if cost.Currency != "" {
		switch {
		case cost.Currency != now.last.Currency:
			now.before = 0
		case s.reopened && cost.Amount < now.last.Amount:
			now.before = now.Reported.Amount
		}
		now.Reported, now.last, s.reopened = cost.Plus(now.before), cost, false
	}
	f.setRaw(&now.Cost, u.Get("cost"))
	s.Usage = now
}

// answer applies a successful response to the client.
func (s *State) answer(f *frame, w *pendingCall) {
	switch role := dialect.RoleOf(dialect.ACP, w.Method); {
	case role.Is(dialect.SetsMode):
		s.Mode = w.param("modeId")
	case role.Is(dialect.SetsModel):
		s.Model = w.param("modelId")
	case role.Is(dialect.SetsOption):
		s.configure(f, f.result().Get("configOptions"))
	case role.Is(dialect.Opens):
		result := f.result()
		s.modes, s.models = namesOf(f, result.Get("modes.availableModes"), "id"), namesOf(f, result.Get("models.availableModels"), "modelId")
		f.setString(&s.Mode, result.Get("modes.currentModeId"))
		f.setString(&s.Model, result.Get("models.currentModelId"))
		s.configure(f, result.Get("configOptions"))
	}
}

// configure applies the session's options.
func (s *State) configure(f *frame, options wire.Value) {
	f.setRaw(&s.Config, options)
	for o := range elements(options) {
		if o.Get("category").Text() == "model" {
			f.setString(&s.ModelOption, o.Get("currentValue"))
			return
		}
	}
}
