package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// arguments scans the arguments of a command one by one.
type arguments struct {
	prose   bool // only those that are recognizably part of a command count
	program string
	login   bool   // the command logs in
	before  string // the previous argument, if a value may follow it
	secret  bool   // the value of before is a secret
}

// next returns the span of a secret in an argument; from equals to if there is none, or
// if redactText finds it.
func (a *arguments) next(arg []byte) (from, to int) {
	before, secret := a.before, a.secret
	a.before, a.secret = "", false
	if secret {
		return 0, len(arg)
	}
	switch {
	case len(before) != 2 && before != "--user" && before != "--proxy-user" && before != "--key":
	case a.takes(before):
		if before == "-U" { // of a share
			_, password, _ := bytes.Cut(arg, []byte("%"))
			return len(arg) - len(password), len(arg)
		}
		return 0, len(arg)
	case before == "-b" && a.program == "curl" && bytes.IndexByte(arg, '=') > 0: // otherwise it is a file
		return 0, len(arg)
	case before == "-u", before == "-U", before == "-a", before[1] == '-' && before != "--key":
		if colon := bytes.IndexByte(arg, ':'); colon > 0 && !bytes.Contains(arg, []byte("://")) && !isDigits(arg[colon+1:]) && (before != "-a" || strings.HasPrefix(a.program, "http")) {
			return colon + 1, len(arg)
		}
		fallthrough
	default:
		if (before == "--key" || strings.Contains("pPktsaw", before[1:])) && isStrong(arg) {
			return 0, len(arg)
		}
	}
	if sign := bytes.IndexAny(arg, "=:"); sign > 0 && (!a.prose && isSecret(arg[:sign]) || string(arg[:sign]) == "pass" && strings.HasPrefix(before, "-pass")) {
		from = sign + 1
		for from < len(arg) && arg[from] == ' ' {
			from++
		}
		if !bytes.HasPrefix(arg[from:], []byte("$")) {
			return from, len(arg)
		}
		return 0, 0
	}
	value, isKey := bytes.CutPrefix(arg, []byte("--key="))
	switch {
	case string(arg) == "--": // after it come the arguments of a program that this one starts
		a.program = ""
	case !bytes.HasPrefix(arg, []byte("-")):
		name := string(arg[bytes.LastIndexByte(arg, '/')+1:])
		if a.program == "" || passwordFlags[name] != "" {
			a.program = name
		}
		a.login = a.login || name == "login"
	case !a.prose && isSecret(arg):
		a.secret = true
	case isKey && isStrong(value), len(arg) > 2 && a.takes(string(arg[:2])+"*"):
		return len(arg) - len(bytes.TrimPrefix(value, arg[:2])), len(arg)
	default:
		a.before = string(arg)
	}
	return 0, 0
}

// takes reports whether the program expects a password after a flag, or, with a *, in the
// same argument.
func (a *arguments) takes(flag string) bool {
	flags := passwordFlags[a.program]
	if a.login && flags == afterLogin {
		return flag == "-p"
	}
	return flags != "" && flags != afterLogin && strings.Contains(" "+flags+" ", " "+flag+" ")
}

// afterLogin marks programs that accept a password with -p only to log in.
const afterLogin = "login"

// passwordFlags are the short flags with which programs accept a password; a * follows
// those that have it in the same argument.
var passwordFlags = map[string]string{
	"sshpass": "-p -p*", "mysql": "-p*", "mysqldump": "-p*", "mysqladmin": "-p*", "mysqlimport": "-p*", "mariadb": "-p*", "mariadb-dump": "-p*",
	"mongo": "-p -p*", "mongosh": "-p -p*", "mongodump": "-p -p*", "mongorestore": "-p -p*", "mongoexport": "-p -p*", "mongoimport": "-p -p*",
	"redis-cli": "-a", "ldapsearch": "-w", "ldapmodify": "-w", "ldapadd": "-w", "ldapdelete": "-w", "ldapwhoami": "-w", "ldappasswd": "-w -s -a",
	"sqlcmd": "-P -P*", "bcp": "-P -P*", "zip": "-P", "unzip": "-P", "7z": "-p*", "7za": "-p*", "7zz": "-p*", "rar": "-p*", "unrar": "-p*", "openssl": "-k -K",
	"smbclient": "-U", "ipmitool": "-P", "rdesktop": "-p", "curl": " ", "http": " ", "https": " ",
	"docker": afterLogin, "podman": afterLogin, "nerdctl": afterLogin, "buildah": afterLogin, "skopeo": afterLogin, "helm": afterLogin, "az": afterLogin,
	"oc": afterLogin, "cf": afterLogin, "crane": afterLogin, "oras": afterLogin,
}

// redactCommand redacts a command line, or a script of them.
func redactCommand(text []byte) []byte {
	return without(text, func(s *search) {
		s.arguments(false)
		s.anyText()
		s.assigned(true)
	})
}

// commands looks for secrets in the arguments of commands in any text.
func (s *search) commands() {
	if s.contains(" -") {
		s.arguments(true)
	}
}

// arguments looks for secrets in the arguments of commands.
func (s *search) arguments(prose bool) {
	a := arguments{prose: prose}
	for i := 0; i < len(s.text); {
		from, to, next, ends := shellWord(s.text, i)
		if from > 1 && s.text[from-1] != ' ' && s.text[from-2] != ' ' && a.takes(a.before+"*") { // in quotes, joined to its flag
			a.secret = true
		}
		if f, t := a.next(s.text[from:to]); f < t && !isReference(s.text[from+f:from+t], nil) {
			s.add(from+f, from+t)
		}
		if ends {
			a = arguments{prose: prose}
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
	for i < len(s) && strings.IndexByte(" \t\r\n;|&`\"'", s[i]) < 0 {
		i++
	}
	to, next = i, i
	for next < len(s) && strings.IndexByte("\r\n;|&`\"'", s[next]) >= 0 {
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
	{" BY ", identified, nil}, // SQL
	{" by ", identified, nil}, //
	{" FOR ", compiledAtUse(`(?i)\bpassword for [^=\r\n]{1,80}= *["']([^"'\r\n]+)["']`), nil}, //
	{"sudo ", compiledAtUse(`\bsudo +(?:-\S+ +)*-[a-zA-Z]*S\b[^\r\n]*<<< *["']?([^"'\r\n]+)`), nil},
	{"sudo ", printed, nil},        // to a program that reads a password
	{"-stdin", printed, nil},       //
	{"--with-token", printed, nil}, //
	{"chpasswd", printed, nil},     //
	{"htpasswd ", compiledAtUse(`\bhtpasswd +-[a-zA-Z]*b[a-zA-Z]* +\S+ +\S+ +["']?([^\s"']+)`), nil},
	{"vault login", compiledAtUse(`\bvault login +([^\s"'=-][^\s"'=]{7,})`), nil},
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
}

// identified matches what makes a user in SQL; without quotes only what has a digit.
var identified = compiledAtUse(`(?i)\bidentified +(?:with +\S+ +)?by +(?:password +)?(?:["']([^"'\r\n]+)|([a-z0-9_#$]*[a-z_][0-9][a-z0-9_#$]*))`)

// printed matches what a shell prints into a program that reads a password.
var printed = compiledAtUse(`\b(?:echo|printf) +(?:-[a-zA-Z]+ +)*["']?([^"'|$\r\n ][^"'|$\r\n]*?)(?:\\n)?["']? *\| *(?:sudo +(?:-\S+ +)*(?:-[a-zA-Z]*S\b|chpasswd)|chpasswd|[^|;\r\n]*--(?:password-|pass-)?stdin\b|[^|;\r\n]*--with-token)`)

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

// spaced looks for secrets that follow a blank.
func (s *search) spaced() {
	needs, has := "", false
	for _, k := range spacedForms {
		if k.needs != needs { // otherwise needs was already looked for
			needs, has = k.needs, s.contains(k.needs)
		}
		if !has {
			continue
		}
		for _, at := range k.form().FindAllSubmatchIndex(s.text, -1) {
			from, to := at[len(at)-2], at[len(at)-1]
			if from < 0 { // the other of two groups matched
				from, to = at[len(at)-4], at[len(at)-3]
			}
			if k.check == nil && !isReference(s.text[from:to], nil) || k.check != nil && k.check(s.text, at) {
				s.add(from, to)
			}
		}
	}
}
