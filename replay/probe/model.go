package probe

import (
	"context"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/script"
)

// A Model is a scripted model that agents can be made to ask.
type Model interface {
	// Start returns a Speaker for one process.
	Start() (Speaker, error)
}

// A Speaker is a Model for one process.
type Speaker interface {
	// Env returns variables that make the process ask the model.
	Env() []string
	// Say sets what the model says next, in place of all that it has not said yet. Each turn
	// has the words of a step model.
	Say(turns [][]string)
	// Unasked says that the process has not asked the model; empty: it has, or need not.
	Unasked() string
	// Lacks says what the model could not do as it was told; empty: nothing.
	Lacks() string
	Close() error
}

// turnsOf returns for each step model of steps what the model says from there on: all of
// those that follow each other. It is nil for all but the first of these.
func turnsOf(steps *script.Script, dir string) (all [][][]string) {
	first := -1
	for i := range steps.Steps {
		s := &steps.Steps[i]
		if s.Verb != script.Model {
			first = -1
			continue
		}
		turn := slices.Clone(s.Words)
		for j := range turn {
			turn[j] = strings.ReplaceAll(turn[j], "${cwd}", dir)
		}
		if first < 0 {
			first = len(all)
		}
		all = append(all, nil)
		all[first] = append(all[first], turn)
	}
	return all
}

// asks is the script that finds out whether an agent asks the model.
var asks = map[bool]string{
	false: "hello\nsession\nmodel text ok\n> session/prompt\n< answer\n",
	true:  "hello\nsession\nmodel text ok\n> session/prompt\n< result\n< session/update {\"update\":{\"state\":\"idle\"}}\n",
}

// askModel returns why cases for a model are not tried: the agent does not ask it.
func (r *Runner) askModel(ctx context.Context, d dialect.Dialect, m *meeting) (unasked string, err error) {
	steps, err := script.Parse("model", asks[d == dialect.ACPv2], d, captures...)
	if err != nil {
		return "", err
	}
	s, err := r.newStage("model", r.run+".model", steps)
	if err != nil {
		return "", err
	}
	defer s.close()
	outcomes := s.player(r, steps, d, m).Play(ctx)
	if _, err := s.end(); err != nil {
		return "", err
	}
	unasked = s.speaker.Unasked()
	if last := outcomes[len(outcomes)-1]; unasked != "" && (last.State != script.Met || last.Code != "") {
		unasked += ": " + last.Got
	}
	return unasked, nil
}
