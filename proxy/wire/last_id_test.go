package wire_test

import (
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

func TestLastID(t *testing.T) {
	for _, tt := range []struct{ end, want string }{
		{`aaa"},"id":7}`, `7`},
		{`aaa"}, "id" : "x-1" , "jsonrpc":"2.0" } ` + "\r", `"x-1"`},
		{`{"id":1},"id":2}`, `2`},
		{`"id":7}}`, ""},             // of an object inside
		{`"id":7}]}`, ""},            // of an object in an array
		{`\"id\":7}"}`, ""},          // in a string
		{`"key":"id"}`, ""},          // a value
		{`"id":null}`, ""},           // no id
		{`"id":7`, ""},               // not the end
		{`"id":7,"method":"x"}`, ""}, // no one writes it like this
		{`"text":"a"}}`, ""},
		{``, ""},
	} {
		id, at := wire.LastID([]byte(tt.end))
		if string(id) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.end, id, tt.want)
		} else if id != nil && tt.end[at:at+len(id)] != tt.want {
			t.Errorf("%s: it does not stand at %d", tt.end, at)
		}
	}
}
