package lake

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// urlFirst reports a URL that does not stand before the tapes. It is not quoted: there may
// be a password in it.
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
