package redact

import "bytes"

// secretPath finds what keeps the other programs of a machine away from a listener that
// was made for one server of an agent: random characters behind the link of the server,
// in a URL or in the target of a request.
var secretPath = compiledAtUse(`((?:://127\.0\.0\.1:[0-9]+|^)/[a-z]{8}-)[a-z2-7]{26}\b`)

// redactListener takes such paths out of URLs. The listener ends with its proxy.
func redactListener(s []byte) []byte {
	if !bytes.Contains(s, []byte("://127.0.0.1:")) {
		return s
	}
	return secretPath().ReplaceAll(s, []byte("${1}"+Placeholder))
}
