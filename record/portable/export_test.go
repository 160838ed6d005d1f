package portable_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
)

// Text that is written in several pieces is read again as it was, wherever in a
// character a piece would end.
func TestExportLongText(t *testing.T) {
	for _, char := range []string{"a", "é", "日", "😀", "\u2028", "\ufffd"} {
		for shift := range 4 {
			for _, secrets := range []*redact.Redaction{nil, redact.NewRedaction(nil)} {
				t.Run(fmt.Sprintf("%+q shifted by %d, raw %v", char, shift, secrets == nil), func(t *testing.T) {
					text := strings.Repeat(" ", shift) + strings.Repeat(char, 100_000/len(char)) + "."
					var b strings.Builder
					e, err := portable.NewExporter(&b, portable.Head{}, secrets)
					if err != nil {
						t.Fatal(err)
					}
					f := dialect.Frame{Frame: wire.Frame{Dir: wire.AgentStderr, Kind: wire.Stderr, Raw: []byte(text), Size: int64(len(text))}}
					if err := e.Write(nil, f); err != nil {
						t.Fatal(err)
					}
					if err := e.Close(); err != nil {
						t.Fatal(err)
					}
					got, err := read(b.String())
					if err != nil || len(got.lines) != 1 {
						t.Fatalf("%d lines, %v, want one", len(got.lines), err)
					}
					line := string(got.lines[0].Raw)
					if line == text {
						return
					}
					at := 0
					for at < min(len(line), len(text)) && line[at] == text[at] {
						at++
					}
					t.Errorf("%d bytes, want %d; from byte %d on %.20q, want %.20q", len(line), len(text), at, line[at:], text[at:])
				})
			}
		}
	}
}
