package lake

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// urlFirst returns an error if the URL comes after a tape. It does not quote the URL, which
// may contain a password.
func urlFirst(cmd *cobra.Command, args []string) error {
	if strings.Contains(args[0], "://") {
		return nil
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, "://") {
			return errors.New("the URL comes first: " + cmd.UseLine())
		}
	}
	return nil
}
