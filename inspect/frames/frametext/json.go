package frametext

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// object represents a frame for programs, without its bytes.
type object struct {
	Seq     uint64            `json:"seq"`
	At      *termtext.Seconds `json:"at"`
	Time    string            `json:"time,omitempty"`
	Dir     wire.Direction    `json:"dir"`
	Origin  wire.Origin       `json:"origin"`
	Kind    wire.Kind         `json:"kind"`
	Method  string            `json:"method,omitempty"`
	Update  string            `json:"update,omitempty"`
	Session string            `json:"session,omitempty"`
	Size    int64             `json:"size"`
	Answers uint64            `json:"answers,omitempty"`
	Latency termtext.Seconds  `json:"latency,omitempty"`
	Failed  bool              `json:"failed,omitempty"`
	Failure string            `json:"failure,omitempty"`
	Stream  uint64            `json:"stream,omitempty"`
	Lead    any               `json:"lead,omitempty"` // as in the portable form
	Derived bool              `json:"derived,omitempty"`
	Again   bool              `json:"redelivered,omitempty"`
	Summary string            `json:"summary"`
}

// JSON returns a frame as one line of JSON without a line end: {seq, at, time?, dir,
// origin, kind, method?, update?, session?, size, answers?, latency?, failed?, failure?,
// stream?, lead?, derived?, redelivered?, summary}, and one of frame (a message as sent,
// except for what termtext.JSON escapes), mark (as wire.Marked), text and base64
// (anything else). A frame larger than wire.MaxChecked has none of these. at is in
// seconds since the tape began at start, null if unknown. time is RFC 3339, left out if
// start is zero. latency is in seconds, left out if zero.
func JSON(s *filter.Subject, start time.Time) ([]byte, error) {
	f := s.Frame
	r := object{
		Seq: f.Seq, Dir: f.Dir, Origin: f.Origin, Kind: f.Kind,
		Method: f.Method, Update: f.Update, Session: f.Session,
		Size: f.Size, Answers: f.Request, Latency: termtext.Seconds(s.Latency), Failed: f.Failed, Failure: s.Failure().String(),
		Stream: f.Stream, Derived: f.Derived, Again: f.Redelivered, Summary: Summary(*f, s.Tool),
	}
	switch {
	case len(f.Lead) == 0:
	case utf8.Valid(f.Lead):
		r.Lead = string(f.Lead)
	default:
		r.Lead = struct {
			Base64 []byte `json:"base64"`
		}{f.Lead}
	}
	if at := termtext.Seconds(f.At); !f.Untimed {
		r.At = &at
	}
	if !start.IsZero() && !f.Untimed {
		r.Time = start.Add(f.At).UTC().Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - len("}\n"))
	switch {
	case int64(len(f.Raw)) < f.Size:
	case f.Kind == wire.Mark:
		b.WriteString(`,"mark":`)
		b.Write(f.Raw)
	case f.Kind == wire.Request, f.Kind == wire.Response, f.Kind == wire.Notification, f.Kind == wire.Batch:
		b.WriteString(`,"frame":`)
		b.Write(f.Raw)
	default:
		name, value := "text", any(string(f.Raw))
		if !utf8.Valid(f.Raw) {
			name, value = "base64", f.Raw
		}
		b.WriteString(`,"` + name + `":`)
		if err := e.Encode(value); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - len("\n"))
	}
	b.WriteByte('}')
	return termtext.JSON(b.Bytes()), nil
}

// withMember returns a JSON object with one more member.
func withMember(object []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("frametext: " + err.Error()) // value has only strings, numbers and times
	}
	return append(append(bytes.TrimSuffix(object, []byte("}")), `,"`+name+`":`...), append(termtext.JSON(text), '}')...)
}
