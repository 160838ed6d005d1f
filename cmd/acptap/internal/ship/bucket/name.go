package bucket

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
)

// A name is what the key of an object says of the tape in it.
type name struct {
	agent string // of letters, digits, dots, dashes and underscores
	tape  string
	sum   string // the first 16 hexadecimal digits of the SHA-256 of the portable form
}

const (
	form     = "v1" // of names and objects
	ending   = ".jsonl.zst"
	sumBytes = 8
)

// key returns the key of the object below a prefix.
func (n name) key(prefix string) string {
	return path.Join(prefix, form, n.agent, tapeid.Time(n.tape).Format("2006/01/02"), n.tape+"-"+n.sum+ending)
}

var behindForm = regexp.MustCompile(`^([A-Za-z0-9._-]+)/[0-9]{4}/[0-9]{2}/[0-9]{2}/([0-9a-zT-]+)-([0-9a-f]{16})\.jsonl\.zst$`)

// parseKey reads the key of an object below a prefix. ok is false for one that no acptap
// has written.
func parseKey(prefix, key string) (n name, ok bool) {
	rest, ok := strings.CutPrefix(key, listed(prefix))
	if !ok {
		return n, false
	}
	m := behindForm.FindStringSubmatch(rest)
	if m == nil {
		return n, false
	}
	n = name{m[1], m[2], m[3]}
	return n, tapeid.HasOwnForm(n.tape, time.Now()) && n.key(prefix) == key
}

// listed returns what the keys of all tapes below a prefix begin with.
func listed(prefix string) string { return path.Join(prefix, form) + "/" }

// agentOf returns what the agent of a tape is called in a key. The name of an object is
// read by more people than the object, so it has no secrets even where that has them, and
// nothing of a URL but its host.
func agentOf(info *record.Info) string {
	agent := info.Agent()
	if u, err := url.Parse(info.Start.Upstream); err == nil && agent == info.Start.Upstream {
		agent = u.Hostname()
	}
	return agentWord(redact.Text(agent))
}

// maxAgent is how long the name of an agent may be in a key.
const maxAgent = 64

// agentWord returns a name with a dash for each run of characters that keys do not have.
func agentWord(agent string) string {
	agent = noWord.ReplaceAllString(agent, "-")
	agent = strings.Trim(agent[:min(len(agent), maxAgent)], ".-")
	if agent == "" {
		return "unnamed"
	}
	return agent
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func hexSum(sum []byte) string { return fmt.Sprintf("%x", sum[:sumBytes]) }
