//go:build linux

package redact_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
)

// What looks like a secret again and again is looked at as long as its length says.
// If each of these looked at all that follows, it would take minutes.
func TestRedactIsLinear(t *testing.T) {
	const size = 256 << 10
	for _, piece := range []string{
		"password=", "password:", `password="`, "cookie: ", "<password>", "token=\\", "--token ", "a_token ", "://", "password '", "login a password ", "-u a:", "x\ntoken =", `key="`, "token;token=", `{"a":`,
		"PRIVATE KEY-----\n", "kind: secret\n data:\n", `f("token","`, "0123456789012345|", "eyAAAAAAAAAAAAAAAAAa1.",
		"password: |\n ", "password:\n a", ` setPassword("`, "| token |\n", "the password for ", "API key ", "name: token, value: ", "abandon ", "cGFzc3dvcmQ9", "\x1b[1", "\x1b]0", "mysql -p'", "://a:b/", "echo a | ",
		"a / b12345 ", "b12345 as the password ", "password at a ", "a,token\n", `variable "token" {`, "${token:", "host=a password=", "token || '", "<<< kinit ", "vault write a token=",
	} {
		text := strings.Repeat(piece, size/len(piece))
		began := worked(t)
		for _, frame := range []string{prompt(text), framed(`{"command":` + quote(text) + `}`), framed(`{"args":[` + quote(text) + `]}`)} {
			redacted(wire.ClientToAgent, []byte(frame))
		}
		if took := worked(t) - began; took > 10*time.Second {
			t.Errorf("%q again and again takes %v", piece, took)
		} else {
			t.Logf("%q: %v", piece, took)
		}
	}
}

// worked returns how long processors have worked for this process: other processes
// do not make that longer.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
