package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/lake"
)

// checkTables returns an error for flags and arguments that do not go with an export of
// tables.
func checkTables(given *pflag.FlagSet, tables *lake.Export, args []string) error {
	for _, flag := range []struct{ name, why string }{
		{"filter", "--filter is for frames: --format parquet writes whole tapes"},
		{"findings", "--findings is for --format jsonl, not parquet"},
		{"mcp", "--mcp changes nothing: --format parquet always has the tapes of servers"},
		{"force", "--force changes nothing: --format parquet replaces what was written of a tape before"},
	} {
		if given.Changed(flag.name) {
			return errors.New(flag.why)
		}
	}
	return tables.Check(args)
}
