package tap

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

// becomeIfNeeded runs acptap in place of acptap-proxy if the flags, or the configuration file
// of the store in dir, require something that only acptap can do. args are those of
// acptap-proxy.
func becomeIfNeeded(cmd *cobra.Command, dir string, args []string) error {
	needed := NeedsAcptap(cmd.Flags())
	if !needed && !IsConfigured(cmd.Flags(), dir) {
		return nil
	}
	acptap, err := cli.Acptap.Find()
	if err == nil {
		err = cli.Become(acptap, append([]string{"proxy"}, args...)...)
	}
	if err != nil && !needed { // recording never fails because of the file
		Complain(cmd, "config.toml: %v; recording without that file", err)
		return nil
	}
	return err
}

// IsConfigured reports whether the configuration file of the store may set flags of the
// proxy. Only acptap really reads the file, so true may be wrong. A server's proxy ignores
// the file: it has the flags that acptap gave it.
func IsConfigured(flags *pflag.FlagSet, dir string) bool {
	if flags.Changed("parent") {
		return false
	}
	path, err := ref.ConfigPath(dir)
	if err != nil || !ref.IsFile(path) {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	table := false // in a table
	for line := range bytes.Lines(text) {
		name, is := strings.CutPrefix(strings.TrimSpace(string(line)), "[")
		table = table || is
		name, _, _ = strings.Cut(strings.TrimLeft(name, " \t\"'"), "=")
		name = strings.TrimRight(name, " \t\"'")
		if strings.HasPrefix(name, cli.ProxyNames[0]) || !table && flags.Lookup(name) != nil {
			return true
		}
	}
	return false
}

// complaint is the annotation in which Complain stores its text.
const complaint = "acptap-complaint"

// Complain makes a command print a message on stderr when it begins to record. The command
// does not wait for the message to be read.
func Complain(cmd *cobra.Command, format string, args ...any) {
	cmd.Annotations = map[string]string{complaint: fmt.Sprintf(format, args...)}
}
