package redact

import (
	"bytes"
	"strings"
)

// arguments scans the arguments of a command one by one.
type arguments struct {
	prose   bool // only those that are recognizably part of a command count
	program string
	login   bool   // the command logs in
	before  string // the previous argument, if a value may follow it
	secret  bool   // the value of before is a secret
	user    bool   // the previous argument is a user and a colon; a quoted string after it is the password
}

// next returns the span of a secret in an argument; from equals to if there is none, or
// if redactText finds it.
func (a *arguments) next(arg []byte, quoted bool) (from, to int) {
	flag, secret := a.before, a.secret
	a.before, a.secret, a.user = "", false, false
	if secret && (!a.prose || quoted || len(arg) >= 6 && looksSecret(arg)) {
		return 0, len(arg)
	}
	if from, to = a.valueOf(flag, arg, false); from < to {
		return from, to
	}
	sign := bytes.IndexAny(arg, "=:")
	option := bytes.HasPrefix(arg, []byte("-"))
	if sign > 0 && ((!a.prose || option) && isSecret(arg[:sign]) || string(arg[:sign]) == "pass" && strings.HasPrefix(flag, "-pass")) {
		from = len(arg) - len(bytes.TrimLeft(arg[sign+1:], " "))
		a.secret = from == len(arg)
		if !bytes.HasPrefix(arg[from:], []byte("$")) {
			return from, len(arg)
		}
		return 0, 0
	}
	switch {
	case string(arg) == "--": // after it come the arguments of a program that this one starts
		a.program = ""
	case !option:
		name := string(arg[bytes.LastIndexByte(arg, '/')+1:])
		if a.program == "" || passwordFlags()[name] != "" {
			a.program = name
		}
		a.login = a.login || name == "login"
	case isSecret(arg) && (!a.prose || arg[1] == '-'):
		a.secret, a.before = true, string(arg)
	case sign > 0 && arg[sign] == '=' && arg[1] == '-' && sign+1 < len(arg):
		from, to = a.valueOf(string(arg[:sign]), arg[sign+1:], false)
		return from + sign + 1, to + sign + 1
	default:
		a.before = strings.TrimSuffix(string(arg), "=")
		if len(arg) > 2 && arg[1] != '-' && arg[2] != '=' {
			from, to = a.valueOf(string(arg[:2]), arg[2:], true)
			return from + 2, to + 2
		}
	}
	return 0, 0
}

// valueOf returns the span of the secret in the value of a flag, which is in the same argument
// if joined.
func (a *arguments) valueOf(flag string, value []byte, joined bool) (from, to int) {
	colon := bytes.IndexByte(value, ':')
	switch {
	case flag != "" && a.takes(flag, joined):
		if flag == "-U" { // of a share
			_, password, _ := bytes.Cut(value, []byte("%"))
			return len(value) - len(password), len(value)
		}
		return 0, len(value)
	case len(flag) != 2 && flag != "--user" && flag != "--proxy-user" && flag != "--key":
	case flag == "-b" && a.program == "curl" && bytes.IndexByte(value, '=') > 0: // otherwise it is a file
		return 0, len(value)
	case strings.Contains("-u -U -a --user --proxy-user", flag) && colon > 0 && (flag != "-a" || strings.HasPrefix(a.program, "http")):
		switch password := value[colon+1:]; {
		case len(password) > 0 && !isDigits(password) && !bytes.HasPrefix(password, []byte("//")):
			return len(value) - len(bytes.TrimLeft(password, "\"'")), len(value)
		case len(password) > 0:
		default:
			a.user = true
			if isStrong(value[:colon]) { // a token, which has no password
				return 0, colon
			}
		}
	case !joined && (flag == "--key" || strings.Contains("pPktsaw", flag[1:])) && isStrong(value):
		return 0, len(value)
	}
	return 0, 0
}

// takes reports whether the program expects a password after a flag, or, if joined, in the
// same argument.
func (a *arguments) takes(flag string, joined bool) bool {
	flags := passwordFlags()[a.program]
	if flags == afterLogin {
		return a.login && flag == "-p" && !joined
	}
	if joined {
		flag += "*"
	}
	return strings.Contains(" "+flags+" ", " "+flag+" ")
}

// redactCommand redacts a command line, or a script of them.
func redactCommand(text []byte) []byte {
	return without(text, func(s *search) {
		s.arguments(0, len(s.text), false)
		s.anyText()
		s.assigned(true)
	})
}

// commands looks for secrets in the arguments of commands in any text.
func (s *search) commands() {
	if s.contains(" -") {
		s.arguments(0, len(s.text), true)
	}
}

// arguments looks for secrets in the arguments of commands.
func (s *search) arguments(i, end int, prose bool) {
	a := arguments{prose: prose}
	for i < end {
		word, next, quoted, ends := shellWord(s.text[:end], i)
		if quoted && s.text[i] != ' ' && s.text[i] != '\t' && (a.user || a.takes(a.before, true)) {
			a.secret = true
		}
		if quoted && next < end && s.text[next] == ':' && strings.HasPrefix(a.before, "-u") { // "user":"password"
			password, after, _, _ := shellWord(s.text[:end], next+1)
			word.to, next = password.to, after
		}
		arg := s.text[word.from:word.to]
		if f, t := a.next(arg, quoted); f < t && !isReference(arg[f:t], nil) {
			s.add(word.from+f, word.from+t)
		} else if quoted && bytes.Contains(arg, []byte(" -")) {
			s.arguments(word.from, word.to, prose)
		}
		if ends {
			a = arguments{prose: prose}
		}
		i = next
	}
}

// shellWord returns the word at s[i] without its quotes, where the next word begins, whether
// the word was quoted, and whether the next one belongs to another command.
func shellWord(s []byte, i int) (word span, next int, quoted, ends bool) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	if in, end, ok := quotedAt(s, i); ok && s[i] != '`' {
		return in, end, true, false
	}
	to := i
	for to < len(s) && (strings.IndexByte(" \t\r\n;|&`\"'", s[to]) < 0 || s[to] == '\'' && to > i && isLetter(s[to-1]) && goesOn(append([]byte(" "), s[to+1:min(len(s), to+2)]...))) {
		to++
	}
	for next = to; next < len(s) && strings.IndexByte("\r\n;|&`\"'", s[next]) >= 0; next++ {
		if s[next] == '"' || s[next] == '\'' {
			if next == to && next > i { // as in --user='a b'
				break
			}
			return span{i, to}, max(next, i+1), false, ends
		}
		ends = true
	}
	return span{i, to}, max(next, i+1), false, ends
}
