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

// DescribeProgram sets the long text and the examples of cmd, the command of acptap-proxy:
// its own, and those of acptap proxy.
func DescribeProgram(cmd *cobra.Command) {
	describe(cmd, expand(programText, func(part string) (string, bool) { return proxyText, part == "proxy" }))
	cmd.Example = strings.ReplaceAll(cmd.Example, "acptap proxy", cmd.Name())
}
