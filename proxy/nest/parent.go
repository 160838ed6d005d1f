package nest

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
)

// A Parent says which entry of mcpServers a server was started for.
type Parent struct {
	Tape   string // id of the agent's tape
	Link   string // identifies one entry in one frame; made by NewLink
	Server string // name of the entry
}

// String returns p as TAPE/LINK/SERVER, with escapes in the server's name as in a URL.
func (p Parent) String() string {
	return p.Tape + "/" + p.Link + "/" + url.PathEscape(p.Server)
}

// ParseParent parses what String returns.
func ParseParent(text string) (Parent, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return Parent{}, fmt.Errorf("%q is not TAPE/LINK/SERVER", text)
	}
	server, err := url.PathUnescape(parts[2])
	if err != nil {
		return Parent{}, fmt.Errorf("%q: %w", text, err)
	}
	return Parent{parts[0], parts[1], server}, nil
}

// NewLink returns eight random letters.
func NewLink() string {
	var b [8]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = 'a' + b[i]%26
	}
	return string(b[:])
}
