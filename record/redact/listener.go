package redact

import "bytes"

// secretPath matches what keeps other programs on this machine away from a listener that
// was made for one server of an agent: random characters after the server's name, in a URL
// or in the target of a request.
var secretPath = compiledAtUse(`((?:://127\.0\.0\.1:[0-9]+|^)/[a-z]{8}-)([a-z2-7]{26})\b`)

// listeners looks for such paths in URLs. The listener ends with its proxy.
func (s *search) listeners() {
	if !bytes.Contains(s.text, []byte("://127.0.0.1:")) {
		return
	}
	for _, at := range secretPath().FindAllSubmatchIndex(s.text, -1) {
		s.add(at[4], at[5])
	}
}
