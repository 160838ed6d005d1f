package main

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
)

// describe sets the long text and the examples of a command from its file.
func describe(cmd *cobra.Command) { commands.Describe(cmd, helpParts) }

// helpParts returns the parts of help that are generated from the code, by the names that
// the files in help/commands use: the members of JSON objects, and the keys of filters.
func helpParts() map[string]string {
	return map[string]string{
		"filter keys":        query.Keys(),
		"json deleted":       cli.Members(doomedTape{}),
		"json finding":       cli.Members(report.Line{}),
		"json imported":      cli.Members(importedLine{}),
		"json note":          cli.Members(noteLine{}),
		"json replay agent":  cli.Members(replay.Report{}),
		"json replay client": cli.Members(drive.Report{}),
		"json session":       cli.Members(sessionLine{}),
		"json summary":       cli.Members(summary.Head{}, summary.Summary{}),
		"json tape":          cli.Members(tapeLine{}),
		"json total":         cli.Members(report.Total{}),
		"json version":       cli.Members(versionLine{}),
		"json watch":         cli.Members(watchLine{}),
	}
}
