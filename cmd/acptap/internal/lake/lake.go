// Package lake has what acptap and acptap-lake, the program that it starts for object
// storage and tables, both know: the commands with their flags and help. acptap parses a command to
// check it and to show its help, and acptap-lake to run it.
package lake

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

// Program is the name of the second program.
const Program = "acptap-lake"

// StoreFlag adds the flag --store to the root of either program.
func StoreFlag(root *cobra.Command, dir *string) {
	root.PersistentFlags().StringVar(dir, "store", "", "`directory` of the store (default $ACPTAP_STORE, else "+ref.DefaultStore+")")
}
