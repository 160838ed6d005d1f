package screen

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record/termtext"
)

// A sign stands for something in some parts of the screen.
type sign struct {
	signs string
	where part
	what  string
}

// signs are explained on the page of keys.
var signs = []sign{
	{report.Sign(conform.Violation) + " " + report.Sign(conform.Warning) + " " + report.Sign(conform.Note), inFrames | inFindings, "breaks a rule: violation, warning, note"},
	{"~ + ×", inFrames, "acptap changed, made, withheld it"},
	{"→ ← ⇠", inFrames, "to the agent, to the client, stderr"},
	{bookmarkSign + " " + frametext.NoteMark, inFrames | inChat, "bookmark, note"},
	{"✓ ✗ ■", inTapes | inChat | inTurns, "done, failed, cancelled"},
	{"⚡ ● ?", inTapes, "cut off, running, not compressed yet"},
	{"↳", inChat | inTurns, "a call of a server"},
	{"╱", inTurns, "time is left out here"},
}

// signRows returns help on the signs in a part of the screen; nil if there are none.
func signRows(where part) [][]termtext.Span {
	g := keyGroup{subject: "Signs"}
	for _, s := range signs {
		if s.where&where != 0 {
			g.keys = append(g.keys, key{names: []string{s.signs}, where: where, what: s.what})
		}
	}
	return g.helpRows(where)
}
