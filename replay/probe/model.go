package probe

import (
	"context"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/script"
)

// A Model is a scripted model that agents can be made to use.
type Model interface {
	// Start returns a Speaker for one process.
	Start() (Speaker, error)
}

// A Speaker is a Model that serves one process.
type Speaker interface {
	// Env returns the environment variables that make the process use the model.
	Env() []string
	// Say replaces the answers that the model has yet to give. Each turn holds the words of
	// one model step.
	Say(turns [][]string)
	// Unasked returns why the process is considered not to use the model, or "" if it has used
	// it or need not.
	Unasked() string
	// Lacks returns what the model could not do as scripted, or "".
	Lacks() string
	Close() error
}

// turnsOf returns for each model step the answers of the model from there on. Consecutive
// model steps form one group, returned for the first of them; the others get nil.
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

// asks is the script that finds out whether an agent uses the model.
var asks = map[bool]string{
	false: "hello\nsession\nmodel text ok\n> session/prompt\n< answer\n",
	true:  "hello\nsession\nmodel text ok\n> session/prompt\n< result\n< session/update {\"update\":{\"state\":\"idle\"}}\n",
}

// askModel returns why the agent does not use the model, which skips the cases that need it.
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
