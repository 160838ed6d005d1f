package trace_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// TestChanges: changes of mode, model and options are in the conversation, by name and once
// each, and split no message.
func TestChanges(t *testing.T) {
	option := func(id, name, value string) string {
		return `{"id":"` + id + `","name":"` + name + `","type":"select","currentValue":"` + value + `","options":[{"value":"low","name":"Low"},{"group":"more","options":[{"value":"high","name":"High"}]}]}`
	}
	begun := v1[:strings.Index(v1, setup)] + `
> {"id":1,"method":"session/new","params":{"cwd":"/w"}}
< {"id":1,"result":{"sessionId":"s","modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"Ask"},{"id":"plan","name":"Plan"}]},"models":{"currentModelId":"default","availableModels":[{"modelId":"default","name":"Opus"}]},"configOptions":[` + option("effort", "Effort", "low") + `]}}
`
	mode := func(id string) string { return update(`"sessionUpdate":"current_mode_update","currentModeId":"` + id + `"`) }
	for _, tt := range []struct{ name, lines, want string }{
		{"told after it was asked for", begun + `> {"id":2,"method":"session/set_mode","params":{"sessionId":"s","modeId":"plan"}}` + "\n" + reply("2", "{}") + mode("plan"), `
			0 change mode: Ask → Plan`},
		{"within a message", begun + prompt("2", "hi") + said("a") + mode("code") + said("b") + reply("2", ended), `
			1 user "hi"
			1 agent "ab"
			1 change mode: Ask → code
			turn 1 end_turn`},
		{"a model without a name", begun + `> {"id":2,"method":"session/set_model","params":{"sessionId":"s","modelId":"haiku"}}` + "\n" + reply("2", "{}"), `
			0 change model: Opus → haiku`},
		{"an option", begun + update(`"sessionUpdate":"config_option_update","configOptions":[`+option("effort", "Effort", "high")+`]`) +
			update(`"sessionUpdate":"config_option_update","configOptions":[`+option("effort", "Effort", "high")+`]`), `
			0 change Effort: Low → High`},
		{"as before", begun + mode("default"), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &session(t, build(t, tt.lines), "s").Conversation
			check(t, outline(c), tt.want)
			var b strings.Builder
			if err := trace.WriteText(&b, c, trace.Text{}); err != nil {
				t.Fatal(err)
			}
			if _, change, _ := strings.Cut(tt.want, "change "); !strings.Contains(b.String(), strings.Split(change, "\n")[0]) {
				t.Errorf("got\n%s", b.String())
			}
		})
	}
}
