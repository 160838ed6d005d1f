// Package lazyregexp compiles regular expressions when they are first used. A command uses few of those
// that it holds, and compiling all of them would slow its start (BenchmarkStart in cmd/acptap).
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expr. It panics if expr is not valid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
