package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/help"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/probe"
)

// generated returns the lists of the topic json that are made from the code, by the word
// after their fences.
func generated() map[string]string {
	return map[string]string{
		"config":        members(configLine{}),
		"deleted":       members(doomedTape{}),
		"fault":         members(faultLine{}),
		"finding":       members(report.Line{}),
		"imported":      members(importedLine{}),
		"note":          members(noteLine{}),
		"probe-case":    members(probe.CaseLine{}),
		"probe-list":    members(caseOffer{}),
		"probe-summary": members(probe.SummaryLine{}),
		"proxy":         members(proxyLine{}),
		"replay-agent":  members(replay.Report{}),
		"replay-client": members(drive.Report{}),
		"rule":          members(ruleLine{}),
		"session":       members(sessionLine{}),
		"summary":       members(summary.Head{}, summary.Summary{}),
		"tape":          members(tapeLine{}),
		"total":         members(report.Total{}),
		"version":       members(versionLine{}),
		"watch":         members(watchLine{}),
	}
}

// The lists in the topic json agree with the code. -update writes them.
func TestJSONTopic(t *testing.T) {
	const path = "help/json.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lists := generated()
	want := regexp.MustCompile("(?ms)^```text ([a-z-]+)\n.*?^```$").ReplaceAllStringFunc(string(text), func(block string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(block, "```text "), "\n")
		list, ok := lists[name]
		if !ok {
			t.Errorf("nothing makes the list %s", name)
		}
		delete(lists, name)
		return "```text " + name + "\n" + list + "```"
	})
	for name := range lists {
		t.Errorf("the topic lacks the list %s", name)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(want, string(text)); d != "" {
		t.Errorf("rewrite it with -update; want (-) and got (+) differ:\n%s", d)
	}
}

// jsonSection returns the section of the topic json about a command.
func jsonSection(cmd *cobra.Command) string {
	topic, _ := help.Find("json")
	for section := range strings.SplitSeq(topic.Markdown, "\n## ") {
		heading, text, _ := strings.Cut(section, "\n")
		if slices.Contains(strings.Split(heading, ", "), strings.TrimPrefix(cmd.CommandPath(), "acptap ")) {
			return text
		}
	}
	return ""
}

// members describes the members of a JSON object that structs marshal to, for the
// topic json: one line each, with the field's help tag, in at most 76 columns. If the tag ends
// with a colon, the names of the value's members follow.
func members(objects ...any) string {
	const widest = 16 // limit for the width of the first column
	var names, texts []string
	width := 0
	for _, object := range objects {
		for f := range reflect.TypeOf(object).Fields() {
			name, text := memberName(f), f.Tag.Get("help")
			if name == "" {
				continue
			}
			if strings.HasSuffix(text, ":") {
				text += " " + memberNames(f.Type)
			}
			names, texts = append(names, name), append(texts, text)
			width = max(width, len(name))
		}
	}
	width = min(width, widest)
	var b strings.Builder
	for i, name := range names {
		for _, line := range termtext.Wrap(texts[i], 76-width-2) {
			fmt.Fprintf(&b, "%-*s  %s\n", width, name, line)
			name = ""
		}
	}
	return b.String()
}

// memberName returns the name of a field in JSON, or "" if it has none.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}

// memberNames lists the members of a struct, or of the structs in a list, each with its
// own members in brackets.
func memberNames(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		name, inner := memberName(f), memberNames(f.Type)
		if name != "" && inner != "" {
			inner = " (" + inner + ")"
		}
		if f.Anonymous || name != "" {
			names = append(names, name+inner)
		}
	}
	return strings.Join(names, ", ")
}
