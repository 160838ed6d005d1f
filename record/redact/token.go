package redact

import (
	"bytes"
	"strings"
)

// A tokenForm is how the secrets of an issuer look: a prefix, which is kept, and
// then at least min letters, digits and characters of also.
type tokenForm struct {
	prefix string
	min    int
	also   string
	check  func([]byte) bool // what else must be true of them; nil: nothing
}

// tokenForms are the secrets that coding agents and their tools are given.
// Longer prefixes come first.
var tokenForms = [...]tokenForm{
	{"PRIVATE KEY-----", 32, "+/=\\ \r\n", nil}, // PEM
	{"Bearer ", 16, "-._~+/=", hasDigit},        // RFC 6750, 2.1; digits tell it from prose
	{"bearer ", 16, "-._~+/=", hasDigit},
	{"eyJ", 30, "-_.", isJWT},
	{"sk-ant-", 20, "-_", nil}, // Anthropic
	{"sk-proj-", 20, "-_", nil},
	{"sk-svcacct-", 20, "-_", nil},
	{"sk-or-", 20, "-_", nil}, // OpenRouter
	{"sk-", 20, "", nil},      // OpenAI, DeepSeek
	{"gsk_", 20, "", nil},     // Groq
	{"xai-", 20, "", nil},
	{"hf_", 20, "", nil},      // Hugging Face
	{"AIza", 30, "-_", nil},   // Google
	{"ya29.", 20, "-_.", nil}, // Google OAuth
	{"github_pat_", 20, "_", nil},
	{"ghp_", 30, "", nil},
	{"gho_", 30, "", nil},
	{"ghu_", 30, "", nil},
	{"ghs_", 30, "", nil},
	{"ghr_", 30, "", nil},
	{"glpat-", 20, "-_.", nil}, // GitLab
	{"npm_", 30, "", nil},
	{"xoxb-", 10, "-", nil}, // Slack
	{"xoxp-", 10, "-", nil},
	{"xapp-", 10, "-", nil},
	{"sk_live_", 20, "", nil}, // Stripe
	{"rk_live_", 20, "", nil},
	{"ntn_", 30, "", nil},     // Notion
	{"lin_api_", 30, "", nil}, // Linear
	{"figd_", 30, "-_", nil},  // Figma
	{"tvly-", 20, "-", nil},   // Tavily
	{"pplx-", 30, "", nil},    // Perplexity
}

// tokens looks for tokens of a form.
func (s *search) tokens(form *tokenForm) {
	for i := 0; ; {
		t := s.text
		n := bytes.Index(t[i:], []byte(form.prefix))
		if n < 0 {
			return
		}
		word := i + n
		from := word + len(form.prefix)
		i = from
		for i < len(t) && (isLetter(t[i]) || isDigit(t[i]) || strings.IndexByte(form.also, t[i]) >= 0) {
			i++
		}
		if i-from >= form.min && beginsWord(t, word) && (form.check == nil || form.check(t[from:i])) {
			s.add(from, i)
		}
	}
}

// beginsWord reports whether a word may begin at s[i]. In JSON within a string
// the letter of an escape sequence may stand before it.
func beginsWord(s []byte, i int) bool {
	if i == 0 || !isLetter(s[i-1]) && !isDigit(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

func hasDigit(s []byte) bool { return bytes.ContainsAny(s, "0123456789") }

// isJWT takes what follows eyJ, which is {" in base64: with it both the header
// and the payload of a JWT begin. Other base64 of JSON may be a cursor.
func isJWT(s []byte) bool { return bytes.Contains(s, []byte(".eyJ")) }

// passwords looks for the password in scheme://user:password@host, and for what looks
// like a token in place of the user.
func (s *search) passwords() {
	for i := 0; ; {
		t := s.text
		n := bytes.Index(t[i:], []byte("://"))
		if n < 0 {
			return
		}
		from := i + n + len("://")
		for i = from; i < len(t) && strings.IndexByte(" \t\r\n\"'`<>\\/?#", t[i]) < 0; i++ {
		}
		at := bytes.LastIndexByte(t[from:i], '@')
		if at < 0 {
			continue
		}
		colon := bytes.IndexByte(t[from:from+at], ':')
		switch {
		case colon >= 0 && colon+1 < at:
			s.add(from+colon+1, from+at)
		case colon < 0 && at >= 16 && looksSecret(t[from:from+at]):
			s.add(from, from+at)
		}
	}
}

// looksSecret tells passwords and keys from the words and numbers of prose and
// code.
func looksSecret(s []byte) bool {
	letters := bytes.ContainsFunc(s, func(c rune) bool { return c < 0x80 && isLetter(byte(c)) })
	return letters && hasDigit(s)
}

func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
