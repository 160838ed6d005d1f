package bucket

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
)

// A name is what an object's key says about its tape.
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

// key returns the key of the object under a prefix.
func (n name) key(prefix string) string {
	return path.Join(prefix, form, n.agent, tapeid.Time(n.tape).Format("2006/01/02"), n.tape+"-"+n.sum+ending)
}

var behindForm = lazyregexp.New(`^([A-Za-z0-9._-]+)/[0-9]{4}/[0-9]{2}/[0-9]{2}/([0-9a-zT-]+)-([0-9a-f]{16})\.jsonl\.zst$`)

// parseKey parses the key of an object under a prefix. ok is false unless acptap could have
// written it.
func parseKey(prefix, key string) (n name, ok bool) {
	rest, ok := strings.CutPrefix(key, listed(prefix))
	if !ok {
		return n, false
	}
	m := behindForm().FindStringSubmatch(rest)
	if m == nil {
		return n, false
	}
	n = name{m[1], m[2], m[3]}
	return n, tapeid.HasOwnForm(n.tape, time.Now()) && n.key(prefix) == key
}

// listed returns the prefix of the keys of all tapes under a prefix.
func listed(prefix string) string { return path.Join(prefix, form) + "/" }

// agentOf returns the name of a tape's agent for a key. More people can read the names of
// objects than the objects, so the name never contains secrets, even if the object does,
// and only the host of a URL.
func agentOf(info *record.Info) string {
	agent := info.Agent()
	if u, err := url.Parse(info.Start.Upstream); err == nil && agent == info.Start.Upstream {
		agent = u.Hostname()
	}
	return agentWord(redact.Text(agent))
}

// maxAgent limits the length of an agent's name in a key.
const maxAgent = 64

// agentWord replaces each run of characters that keys must not contain with a dash.
func agentWord(agent string) string {
	agent = noWord().ReplaceAllString(agent, "-")
	agent = strings.Trim(agent[:min(len(agent), maxAgent)], ".-")
	if agent == "" {
		return "unnamed"
	}
	return agent
}

var noWord = lazyregexp.New(`[^A-Za-z0-9._-]+`)

func hexSum(sum []byte) string { return fmt.Sprintf("%x", sum[:sumBytes]) }

// metaNested is the metadata of a tape that lists the IDs of its nested tapes, so that
// they can be pulled with it.
const metaNested = "Nested"

// maxNested limits the IDs in the metadata, because S3 accepts 2 KB of it.
const maxNested = 60

// idsOf returns the IDs of tapes in the form of the metadata.
func idsOf(tapes []record.Info) string {
	ids := make([]string, min(len(tapes), maxNested))
	for i := range ids {
		ids[i] = tapes[i].Tape
	}
	return strings.Join(ids, " ")
}

// nestedIn returns the IDs in the metadata.
func nestedIn(about map[string]string) (tapes []string) {
	for _, tape := range strings.Fields(about[http.CanonicalHeaderKey(metaNested)]) {
		if tapeid.IsValid(tape) && len(tapes) < maxNested {
			tapes = append(tapes, tape)
		}
	}
	return tapes
}
