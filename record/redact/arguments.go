package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// arguments scans the arguments of a command one by one.
type arguments struct {
	program string
	before  string // the previous argument, if a value may follow it
	secret  bool   // the value of before is a secret
}

// next returns the span of a secret in an argument; from equals to if there is none, or if
// redactText finds it.
func (a *arguments) next(arg []byte) (from, to int) {
	before, secret := a.before, a.secret
	a.before, a.secret = "", false
	if secret {
		return 0, len(arg)
	}
	switch before {
	case "-u", "-U", "--user", "--proxy-user":
		if colon := bytes.IndexByte(arg, ':'); colon > 0 && !bytes.Contains(arg, []byte("://")) && !isDigits(arg[colon+1:]) {
			return colon + 1, len(arg)
		}
	case "-p", "-P", "-k", "-t", "-s", "-a", "-w":
		if takesPassword(a.program, before) || isStrong(arg) {
			return 0, len(arg)
		}
	}
	if sign := bytes.IndexAny(arg, "=:"); sign > 0 && isSecret(arg[:sign]) {
		from = sign + 1
		for from < len(arg) && arg[from] == ' ' {
			from++
		}
		if !bytes.HasPrefix(arg[from:], []byte("$")) {
			return from, len(arg)
		}
		return 0, 0
	}
	switch {
	case string(arg) == "--": // after it come the arguments of a program that this one starts
		a.program = ""
	case !bytes.HasPrefix(arg, []byte("-")):
		if a.program == "" {
			a.program = string(arg[bytes.LastIndexByte(arg, '/')+1:])
		}
	case isSecret(arg):
		a.secret = true
	case takesPassword(a.program, "-p=") && bytes.HasPrefix(arg, []byte("-p")) && len(arg) > 2:
		return 2, len(arg)
	default:
		a.before = string(arg)
	}
	return 0, 0
}

// takesPassword reports whether a program takes a password after a flag; -p= means one
// written to the flag itself.
func takesPassword(program, flag string) bool {
	switch program {
	case "sshpass", "docker", "podman":
		return flag == "-p" && program == "sshpass"
	case "mysql", "mysqldump", "mysqladmin", "mariadb":
		return flag == "-p="
	case "redis-cli":
		return flag == "-a"
	case "ldapsearch", "ldapmodify":
		return flag == "-w"
	}
	return false
}

func isDigits(s []byte) bool { return len(bytes.Trim(s, "0123456789")) == 0 }

// isStrong reports whether a value after a short flag can hardly be anything but a secret:
// it is long, has letters and digits, and is no name, path or address.
func isStrong(arg []byte) bool {
	return len(arg) >= 12 && looksSecret(arg) && !bytes.ContainsAny(arg, "./:\\ @,=")
}

// redactCommand redacts a command line, or a script of them.
func redactCommand(text []byte) []byte {
	return without(text, func(s *search) {
		s.arguments()
		s.anyText()
		s.assigned(true)
	})
}

// arguments looks for secrets in the arguments of commands.
func (s *search) arguments() {
	var a arguments
	for i := 0; i < len(s.text); {
		from, to, next, ends := shellWord(s.text, i)
		if f, t := a.next(s.text[from:to]); f < t && !isReference(s.text[from+f:from+t], nil) {
			s.add(from+f, from+t)
		}
		if ends {
			a = arguments{}
		}
		i = next
	}
}

// shellWord returns the span of the word at s[i] without its quotes, where the next word
// begins, and whether that belongs to another command.
func shellWord(s []byte, i int) (from, to, next int, ends bool) {
	for i < len(s) && strings.IndexByte(" \t", s[i]) >= 0 {
		i++
	}
	from = i
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		if n := bytes.IndexByte(s[i+1:], s[i]); n >= 0 {
			return i + 1, i + 1 + n, i + n + 2, false
		}
	}
	for i < len(s) && strings.IndexByte(" \t\r\n;|&\"'", s[i]) < 0 {
		i++
	}
	to, next = i, i
	for next < len(s) && strings.IndexByte("\r\n;|&\"'", s[next]) >= 0 {
		if s[next] == '"' || s[next] == '\'' {
			if next == to && next > from { // as in --user='a b'
				break
			}
			return from, to, max(next, from+1), ends
		}
		ends = true
		next++
	}
	return from, to, max(next, from+1), ends
}

// spacedForms are notations in which a secret follows a blank.
var spacedForms = [...]struct {
	needs string
	form  func() *regexp.Regexp // its last group is the secret
	check func(s []byte, at []int) bool
}{
	{"login", compiledAtUse(`login\s+\S+\s+password\s+(\S+)`), nil},                     // netrc
	{"ENV ", compiledAtUse(`(?m)^\s*ENV\s+([A-Za-z0-9_]+)[ \t]+(\S+)`), namesItsSecret}, // Dockerfile
	{"'", compiledAtUse(`(?i)\bpassword\s+'([^'\r\n]{3,})'`), nil},                      // SQL
	{"password ", compiledAtUse("(?i)\\bpassword (?:is|was) [\"'`]([^\"'`\r\n]+)[\"'`]"), nil},
	{"sshpass", compiledAtUse(`sshpass\s+-p\s*["']?([^\s"']+)`), nil},
	{"_", compiledAtUse(`\b([A-Za-z0-9]+(?:_[A-Za-z0-9]+)+) +([^\s"'=:]{8,})`), namesWhatLooksSecret},                  // aws configure set
	{"value=", compiledAtUse(`(?:key|name)="([^"\r\n]+)"\s*value="([^"\r\n]+)"`), namesItsSecret},                      // XML
	{"--", compiledAtUse(`(?:^|[\s"'` + "`" + `])(--[A-Za-z0-9_-]+)(?:=| +)"([^"\r\n]+)"`), namesItsSecret},            // quoted
	{"--", compiledAtUse(`(?:^|[\s"'` + "`" + `])(--[A-Za-z0-9_-]+)(?:=| +)'([^'\r\n]+)'`), namesItsSecret},            // quoted
	{"--", compiledAtUse(`(?:^|[\s"'` + "`" + `])(--[A-Za-z0-9_-]+)=([^\s"'` + "`" + `]+)`), namesItsSecret},           // joined
	{"--", compiledAtUse(`(?:^|[\s"'` + "`" + `])(--[A-Za-z0-9_-]+) +([^\s"'` + "`" + `]{6,})`), namesWhatLooksSecret}, // apart
	{"-u", compiledAtUse(`(?:^|\s)(?:-u|--(?:proxy-)?user)[ =]*"([^:"\r\n/]+):([^"\r\n]+)"`), isNoNumber},              // curl
	{"-u", compiledAtUse(`(?:^|\s)(?:-u|--(?:proxy-)?user)[ =]*'([^:'\r\n/]+):([^'\r\n]+)'`), isNoNumber},              //
	{"-u", compiledAtUse(`(?:^|\s)-u[ =]*["']?([^\s:"'/]+)["']?:["']?([^\s"']+)`), isNoNumber},                         //
	{"-u", compiledAtUse(`(?:^|\s)(?:-u|--user)[ ="']*()([^\s:"'/]{16,}):["']?(?:\s|$)`), isStrongUser},                // a token has no password
	{"--", compiledAtUse(`(?:^|\s)--(?:proxy-)?user[ ="']+([^\s:"'/]+)["']?:["']?([^\s"']+)`), isNoNumber},             //
	{"ey:", compiledAtUse(`(?:-H|--header)[= \t]*["'](?i:x-[a-z]+-)?[Kk]ey:[ \t]*([^\s"']{8,})["']`), nil},             // curl
	{"|", compiledAtUse(`\b[0-9]{15,16}\|([0-9A-Za-z_-]{27,40})\b`), nil},                                              // Facebook: an app's id and secret
	{`("`, compiledAtUse(`\("([A-Za-z0-9_.-]{3,64})",[ \t]*["']([^"'\s]{6,})["']`), isSetting},                         // setProperty(
	{`('`, compiledAtUse(`\('([A-Za-z0-9_.-]{3,64})',[ \t]*["']([^"'\s]{6,})["']`), isSetting},                         //
}

// compiledAtUse compiles expr at its first use. A proxy needs none of the expressions, and
// compiling them all would slow its start (BenchmarkStart in cmd/acptap).
func compiledAtUse(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func namesItsSecret(s []byte, at []int) bool {
	name := s[at[2]:at[3]]
	return isSecret(name) && !isReference(s[at[4]:at[5]], bytes.TrimLeft(name, "-"))
}

func namesWhatLooksSecret(s []byte, at []int) bool {
	return namesItsSecret(s, at) && looksSecret(s[at[4]:at[5]])
}

func isNoNumber(s []byte, at []int) bool {
	value := s[at[4]:at[5]]
	return !isDigits(value) && !isReference(value, nil)
}

func isStrongUser(s []byte, at []int) bool { return isStrong(s[at[4]:at[5]]) }

// isSetting reports whether a name and a value are the arguments of a call that sets one to
// the other.
func isSetting(s []byte, at []int) bool {
	begin := at[0]
	for begin > 0 && isNameByte(s[begin-1]) {
		begin--
	}
	called := bytes.ToLower(s[begin:at[0]])
	for _, verb := range []string{"set", "put", "add", "define"} {
		if bytes.HasPrefix(called, []byte(verb)) {
			return namesItsSecret(s, at)
		}
	}
	return false
}

// spaced looks for secrets that follow a blank.
func (s *search) spaced() {
	needs, has := "", false
	for _, k := range spacedForms {
		if k.needs != needs { // otherwise needs was already looked for
			needs, has = k.needs, bytes.Contains(s.text, []byte(k.needs))
		}
		if !has {
			continue
		}
		for _, at := range k.form().FindAllSubmatchIndex(s.text, -1) {
			from, to := at[len(at)-2], at[len(at)-1]
			if k.check == nil && !isReference(s.text[from:to], nil) || k.check != nil && k.check(s.text, at) {
				s.add(from, to)
			}
		}
	}
}
