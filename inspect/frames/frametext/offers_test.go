package frametext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Uses are listed at the capability that allows them or, if that is not offered, at the one
// that would.
func TestOffers(t *testing.T) {
	used := map[string]int{"elicitation/create": 3, "fs/read_text_file": 2, "terminal/create": 1, "plan_update": 4}
	said := wire.ValueOf(`{"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":false},"elicitation":{"form":{}},"plan":{},"x\u001b":7}}`)
	p := frametext.PartyOf(said)
	var b strings.Builder
	for _, o := range p.Offers(dialect.ACPv1, dialect.ClientSide, used) {
		fmt.Fprintf(&b, "%*s%q %s", 2*o.Depth, "", o.Name, o.Answer)
		for _, u := range o.Uses {
			fmt.Fprintf(&b, ", %s ×%d", u.Method, u.Count)
		}
		b.WriteByte('\n')
	}
	const want = `"fs" yes
  "readTextFile" yes, fs/read_text_file ×2
  "writeTextFile" no
"elicitation" yes
  "form" yes, elicitation/create ×3
  "url" no
"plan" yes, plan_update ×4
"x\x1b" 7
"terminal" no, terminal/create ×1
"auth" no
"session" no
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
