package portable

import (
	"time"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// jetBrains reads acp-transport.log, which JetBrains IDEs of 2025.3 and later write into
// log/acp if the registry key llm.agent.extended.logging is set. The IDE is the client:
//
//	2025-12-17 11:26:25,895 [  12469]   FINE - AcpTransport - OUT: {"jsonrpc":"2.0","id":1,…}
//	2025-12-17 11:26:27,535 [  14109]   FINE - AcpTransport - IN: {"jsonrpc":"2.0","id":1,…}
//
// The number in brackets is milliseconds since the IDE started. Lines of other loggers,
// as in idea.log, are ignored.
type jetBrains struct{ log }

var jetBrainsLine = lazyregexp.New(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \[ *\d+\] +[A-Z]+ - [\w.#$]*AcpTransport - (?:(OUT|IN): )?`)

func isJetBrains(head []byte) bool { return anyDated(head, jetBrainsLine) }

func readJetBrains(f *file) error {
	j := &jetBrains{log{
		file: f, unit: "line", head: Head{Start: journal.Start{Proto: "acp"}},
		lacks: "From a log of a JetBrains IDE: its times are local but read as UTC, and it has no stderr",
	}}
	return j.end(j.eachLine(j.read))
}

func (j *jetBrains) read(l logLine) error {
	m := jetBrainsLine().FindSubmatch(l.text)
	if m == nil {
		return nil
	}
	at, err := time.Parse("2006-01-02 15:04:05.000", string(m[1]))
	dir := wire.ClientToAgent
	switch string(m[2]) {
	case "OUT":
	case "IN":
		dir = wire.AgentToClient
	default:
		j.unread.add(l.n) // a message of a newer release, or no message at all
		return nil
	}
	text := l.text[len(m[0]):]
	if err != nil || !l.complete(text) {
		return j.missing(l.n, dir, l.size-len(m[0]), at)
	}
	return j.message(l.n, dir, text, at)
}
