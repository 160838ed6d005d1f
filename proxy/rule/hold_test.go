package rule_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

// A desk is a Desk with users that execute commands. It logs the events that they receive.
type desk struct {
	*rule.Desk
	mu    sync.Mutex
	log   strings.Builder
	users map[string]*rule.User
}

func (d *desk) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(&d.log, format+"\n", args...)
}

// do executes a command: a user's name, a verb, and its arguments.
func (d *desk) do(command string) {
	name, rest, _ := strings.Cut(command, " ")
	verb, rest, _ := strings.Cut(rest, " ")
	number, with, _ := strings.Cut(rest, " ")
	id, _ := strconv.ParseUint(number, 10, 64)
	u := d.users[name]
	var err error
	switch verb {
	case "joins", "looks":
		var held []rule.Held
		d.users[name], held, err = d.Join(verb == "joins", func(e rule.Event) {
			switch {
			case e.Held != nil:
				d.say("%s: %s", name, told(*e.Held))
			case e.Gone != 0:
				d.say("%s: %d gone, %s", name, e.Gone, e.Why)
			default:
				d.say("%s: %s hit %d", name, e.Rule, e.Hits)
			}
		})
		for _, h := range held {
			d.say("%s finds %s", name, told(h))
		}
	case "leaves":
		err = u.Leave(name + " has left")
	case "holds":
		err = u.Hold(rest, 0, 0)
	case "releases":
		var edited []byte
		if with != "" {
			edited = []byte(with)
		}
		err = u.Release(id, edited)
	case "releases-all":
		err = u.ReleaseAll()
	case "drops":
		err = u.Drop(id)
	case "answers":
		err = u.Answer(id, []byte(with), nil)
	case "fails":
		err = u.Answer(id, nil, []byte(with))
	case "injects":
		dir := wire.ClientToAgent
		if number == "client" {
			dir = wire.AgentToClient
		}
		err = u.Inject(dir, []byte(with), func(response []byte) { d.say("%s gets %s", name, response) })
	case "lists":
		held, failed := u.Held()
		for _, h := range held {
			d.say("%s sees %s", name, told(h))
		}
		err = failed
	case "rules":
		list, failed := u.Rules()
		for _, r := range list {
			d.say("%s sees @%s %s, hits %d, off %v, own %v", name, r.Name, r.Text, r.Hits, r.Off, r.Own)
		}
		err = failed
	case "adds":
		err = u.AddRules("", rest)
	case "loads":
		err = u.AddRules("file", rest)
	case "reloads":
		err = u.AddRules("folder/rules", strings.ReplaceAll(rest, "; ", "\n"))
	case "removes":
		err = u.RemoveRule(rest)
	case "enables":
		err = u.EnableRule(rest, true)
	case "disables":
		err = u.EnableRule(rest, false)
	default:
		panic(command)
	}
	if err != nil {
		d.say("%s: error: %v", name, err)
	}
}

func told(h rule.Held) string {
	text := fmt.Sprintf("%d %v %v %s session %q", h.ID, h.Dir, h.Kind, h.Method, h.Session)
	if h.Behind != 0 {
		return text + fmt.Sprintf(" behind %d", h.Behind)
	}
	return text + fmt.Sprintf(" by %s, for %v", h.Rule, time.Until(h.Until))
}

// TestHolds: what users can do with waiting frames.
func TestHolds(t *testing.T) {
	eachCase(t, "holds", func(t *testing.T, set *rule.Set, traffic, comment string) string {
		d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
		if strings.Contains(comment, "--wait 1m") {
			d.Wait = time.Minute
		}
		set.Attend(d.Desk)
		c := converseWith(t, set, nil, traffic, d.do)
		return d.log.String() + c.String()
	})
}
