package commands

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
)

// The help of acptap-proxy is embedded separately, so that the small program does not
// contain that of other commands.
var (
	//go:embed acptap-proxy.txt
	programText string

	//go:embed proxy.txt
	proxyText string
)

// OfProgram returns the help of cmd, the command of acptap-proxy: the help of acptap proxy,
// preceded by what is special about the program.
func OfProgram(cmd *cobra.Command) Help {
	h := parse(proxyText)
	h.Details = parse(programText).Details + "\n\n" + h.Details
	h.Examples = strings.ReplaceAll(h.Examples, "acptap proxy", cmd.Name())
	return h
}
