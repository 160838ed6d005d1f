package program_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/lake/program"
)

// TestHelp: the program has its own text and those of acptap push and pull.
func TestHelp(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--help", "acptap starts this program"},
		{"push --help", "\nCopies tapes to a bucket"},
		{"pull --help", "\nAdds to the store the tapes"},
	} {
		var out bytes.Buffer
		if status := program.Run(t.Context(), strings.Fields(tt.args), nil, &out, &out); status != 0 {
			t.Errorf("%s: status %d", tt.args, status)
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: no %q in\n%s", tt.args, tt.want, out.String())
		}
	}
}
