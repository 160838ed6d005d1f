package rule_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

// A desk is a Desk with users, which do what commands say. It notes what they are told.
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

// do does what a command says: a user's name, a verb, and what it needs.
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

// TestHolds: each file has rules, traffic with what users do, and what becomes of it.
func TestHolds(t *testing.T) {
	files, err := filepath.Glob("testdata/holds/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) < 2 || a.Files[0].Name != "rules" || a.Files[1].Name != "traffic" {
				t.Fatal("want rules, traffic and want")
			}
			set, err := rule.Parse("rules", string(a.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
			if strings.Contains(string(a.Comment), "--wait 1m") {
				d.Wait = time.Minute
			}
			set.Attend(d.Desk)
			c := converseWith(t, set, nil, string(a.Files[1].Data), d.do)
			got := d.log.String() + c.String()
			if *update {
				a.Files = append(a.Files[:2:2], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if len(a.Files) < 3 || string(a.Files[2].Data) != got {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
