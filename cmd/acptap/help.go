package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/help"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// newHelpCmd returns a help command that, unlike cobra's own, knows topics and
// fails for a word that is neither a command nor a topic.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	var markdown bool
	var manDir string
	cmd := &cobra.Command{
		Use:   "help [flags] [COMMAND|TOPIC]",
		Short: "Print the help of a command or a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			if manDir != "" {
				return help.WriteMan(manDir, root)
			}
			if len(args) == 1 {
				if topic, ok := help.Find(args[0]); ok {
					return writeTopic(cmd.OutOrStdout(), topic, markdown)
				}
			}
			if markdown {
				return fmt.Errorf("--markdown prints a topic, such as %s", help.Topics()[0].Name)
			}
			found, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if found == root && len(rest) == 1 && len(cli.Suggestions(root, rest[0])) == 0 {
				return fmt.Errorf("%q is neither a command nor a topic; acptap help lists both", rest[0])
			}
			if err := cli.Subcommand(found, rest); err != nil {
				return err
			}
			return found.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			found, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			if len(args) == 0 {
				for _, t := range help.Topics() {
					names = append(names, t.Name+"\t"+t.Title)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a topic as Markdown")
	cmd.Flags().StringVar(&manDir, "man", "", "write man pages below this `directory`, into man1 and man7")
	return cmd
}

// writeTopic prints a topic, as Markdown or as text that fits w.
func writeTopic(w io.Writer, topic help.Topic, markdown bool) error {
	text := topic.Markdown
	if !markdown {
		width := help.Width
		if columns := cli.Columns(w); columns > 0 {
			width = min(width, columns)
		}
		text = topic.Text(width, cli.TakesColor(w))
	}
	_, err := io.WriteString(w, text)
	return err
}

// topicList returns the list of topics in the help of the root command.
func topicList() string {
	var b strings.Builder
	b.WriteString("\nTopics (acptap help TOPIC):\n")
	for _, t := range help.Topics() {
		fmt.Fprintf(&b, "  %-13s %s\n", t.Name, t.Title)
	}
	return b.String()
}
