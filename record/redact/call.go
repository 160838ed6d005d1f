package redact

import (
	"bytes"
	"strings"
)

// A call is a call in source code with literal arguments.
type call struct {
	function []byte // with what precedes it, such as conf.password.set
	args     []span // the literals, without their quotes
	more     bool   // other arguments follow them
}

// calls looks for calls that hand over a secret: setPassword("…"), set("password", "…"),
// Password("…"), BasicAuth("…", "…"), and for pairs such as auth=("…", "…").
func (s *search) calls() {
	for i := 0; ; i++ {
		n := bytes.IndexByte(s.text[i:], '(')
		if n < 0 {
			return
		}
		i += n
		c, ok := callAt(s.text, i)
		if !ok {
			continue
		}
		if at := c.secret(s.text); at.from < at.to {
			s.add(at.from, at.to)
		}
	}
}

// callAt returns the call whose ( is at t[i]. ok is false if its first argument is not a
// literal.
func callAt(t []byte, i int) (c call, ok bool) {
	const most = 4
	begin := i
	for begin > 0 && i-begin < 128 && (isNameByte(t[begin-1]) || t[begin-1] == '.' || t[begin-1] == ':') {
		begin--
	}
	c.function = t[begin:i]
	if begin == i { // a pair
		before := bytes.TrimRight(t[:i], " ")
		name, assigned := bytes.CutSuffix(before, []byte("="))
		if from := len(name) - len("auth"); !assigned || from < 0 || string(name[from:]) != "auth" {
			return c, false
		}
		c.function = []byte("BasicAuth")
	}
	for i++; len(c.args) < most; i++ {
		for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '\n') {
			i++
		}
		in, end, ok := quotedAt(t, i)
		if !ok {
			break
		}
		c.args = append(c.args, in)
		if i = end; i == len(t) || t[i] != ',' {
			return c, true
		}
	}
	c.more = true
	return c, len(c.args) > 0
}

// secret returns the argument that is secret, or an empty span if there is none.
func (c *call) secret(t []byte) (at span) {
	owner, name := c.function[:0], c.function
	if dot := bytes.LastIndexAny(name, ".:"); dot >= 0 {
		owner, name = trimEnd(name[:dot], ":"), name[dot+1:]
		owner = owner[bytes.LastIndexAny(owner, ".:")+1:]
	}
	at = c.args[len(c.args)-1]
	first, last := t[c.args[0].from:c.args[0].to], t[at.from:at.to]
	object, sets := cutSetter(name)
	subject, weak := []byte(nil), true // whose value may be a word
	switch {
	case sets && isSecret(object) && (len(c.args) > 1 || !c.more):
		subject = object
	case sets && len(c.args) > 1 && isSecret(first):
		subject = first
	case sets && len(object) == 0 && isSecret(owner) && !c.more:
		subject = owner
	case getters.end(name) && len(c.args) == 2 && !c.more && isSecret(first): // the default of a getter
		subject, weak = first, bytes.Equal(first, bytes.ToUpper(first))
	case logins.end(name) && len(c.args) > 1 && !c.more:
		subject = name
	case len(name) > 0 && isUpper(name[0]) && isSecret(name):
		subject, weak = name, bytes.Contains(bytes.ToLower(name), []byte("pass"))
	default:
		return span{}
	}
	if scheme, credentials, ok := bytes.Cut(last, []byte(" ")); ok && isScheme(scheme) {
		at.from, last = at.to-len(credentials), credentials
	}
	if len(last) < 4 || isReference(last, subject) || bytes.IndexByte(last, ' ') >= 0 || bytes.Contains(last, []byte("://")) || !weak && !looksSecret(last) {
		return span{}
	}
	return at
}

// cutSetter returns what a function sets, judging by its name: password for setPassword,
// set_password and SetPassword, nothing for set and setItem.
func cutSetter(name []byte) (object []byte, ok bool) {
	letters := strings.ToLower(string(name))
	for _, verb := range setters {
		if strings.HasPrefix(letters, verb) {
			object = name[len(verb):]
			return object, len(object) == 0 || isUpper(object[0]) || object[0] == '_' || isUpper(name[0]) || verb == "set"
		}
	}
	return nil, false
}
