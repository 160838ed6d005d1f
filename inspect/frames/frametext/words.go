package frametext

import (
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A phrase describes the params or result of a method, or an update.
type phrase func(v wire.Value) string

// phrases summarize a method. A value without a phrase is shown as JSON.
type phrases struct{ says, answers phrase }

// The phrases are built at first use; otherwise every proxy would pay for them at
// startup.
var (
	methodPhrases = sync.OnceValue(func() map[string]phrases {
		all := map[string]phrases{}
		for _, m := range dialect.Methods() {
			says, answers := dialect.Words(m.Name)
			all[m.Name] = phrases{phraseOf(says), phraseOf(answers)}
		}
		return all
	})
	updatePhrases = sync.OnceValue(func() map[string]phrase {
		all := map[string]phrase{}
		for _, u := range dialect.Updates() {
			all[u.Name] = phraseOf(u.Says)
		}
		return all
	})
)

// phraseOf compiles blank-separated words into a phrase, or nil if there are none. Each
// word describes a part:
//
//	title|sessionId              the text at the first of these paths that has any
//	replay_from:replayFrom       that with a label
//	sessions#session:title       how many sessions there are at a path, and the title of the first ones
//	prompt=blocks                what a teller says of the value at a path, or without one of all
func phraseOf(words string) phrase {
	if words == "" {
		return nil
	}
	var parts []phrase
	for _, word := range strings.Fields(words) {
		parts = append(parts, partOf(word))
	}
	return func(v wire.Value) string {
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = part(v)
		}
		return termtext.Dotted(texts...)
	}
}

func partOf(word string) phrase {
	before, after, labelled := strings.Cut(word, ":")
	if path, one, ok := strings.Cut(before, "#"); ok {
		count := counted(one, partOf(after))
		return func(v wire.Value) string { return count(v.Get(path)) }
	}
	if labelled {
		label, part := strings.ReplaceAll(before, "_", " "), partOf(after)
		return func(v wire.Value) string { return termtext.Labelled(label, part(v)) }
	}
	path, name, ok := strings.Cut(word, "=")
	if !ok {
		return at(strings.Split(word, "|")...)
	}
	tell := tellers()[name]
	switch {
	case tell == nil:
		panic("frametext: no teller " + name)
	case path == "":
		return tell
	}
	return func(v wire.Value) string { return tell(v.Get(path)) }
}

// tellers are the phrases that words cannot express.
var tellers = sync.OnceValue(func() map[string]phrase {
	return map[string]phrase{
		"block": block, "blocks": blocks, "cancelledRequest": cancelledRequest, "command": commandName,
		"commandLine": command, "completion": completion, "config": config, "configChoice": configChoice, "decoded": decoded,
		"discovery": discovery, "exitStatus": exitStatus, "introduction": introduction, "invocation": invocation, "message": message,
		"names": names, "place": placeInText, "plan": plan, "progress": progress,
		"promptMessages": promptMessages, "readFile": readFile, "resourceContents": resourceContents, "sampling": sampling,
		"servers": servers, "sized": sized, "summary": summaryOf, "task": task,
		"terminalOutput": terminalOutput, "tokens": tokens, "toolContent": toolContent,
		"toolResult": toolResult, "usage": usage, "value": Value,
	}
})
