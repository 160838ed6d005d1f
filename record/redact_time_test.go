package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// What looks like a secret again and again is looked at as long as its length says.
// If each of these looked at all that follows, it would take minutes.
func TestRedactIsLinear(t *testing.T) {
	const size = 512 << 10
	for _, piece := range []string{
		"password=", "password:", `password="`, "cookie: ", "<password>", "token=\\", "--token ", "a_token ", "://", "password '", "login a password ", "-u a:", "x\ntoken =", `key="`, "token;token=", `{"a":`,
	} {
		text := strings.Repeat(piece, size/len(piece))
		began := time.Now()
		for _, frame := range []string{prompt(text), framed(`{"command":` + quote(text) + `}`), framed(`{"args":[` + quote(text) + `]}`)} {
			exported(t, wire.ClientToAgent, []byte(frame))
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q again and again takes %v", piece, took)
		} else {
			t.Logf("%q: %v", piece, took)
		}
	}
}

func quote(text string) string { return `"` + wrapped(text) + `"` }
