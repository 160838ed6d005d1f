package remap

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestPathMap(t *testing.T) {
	for _, tt := range []struct{ name, recorded, now, in, want string }{
		{"in prose", "/w/rec", "/home/me/x", `{"text":"see /w/rec/a.go, /w/rec. And /w/rec"}`, `{"text":"see /home/me/x/a.go, /home/me/x. And /home/me/x"}`},
		{"not a longer name", "/w/rec", "/x/y", `{"text":"/w/record /w/rec-2 /w/rec.go /v/w/rec"}`, `{"text":"/w/record /w/rec-2 /w/rec.go /v/w/rec"}`},
		{"a URI", "/w/a b", "/x/ü", `{"uri":"file:///w/a%20b/c"}`, `{"uri":"file:///x/%C3%BC/c"}`},
		{"not a key", "/w/rec", "/x/y", `{"/w/rec":"/w/rec"}`, `{"/w/rec":"/x/y"}`},
		{"not base64", "/w/rec", "/x/y", `{"data":"/w/rec"}`, `{"data":"/w/rec"}`},
		{"escapes", "/w/rec", "/x/<y>", `{"t":"\/w\/rec\u002fa","u":"\u00e9"}`, `{"t":"/x/<y>/a","u":"\u00e9"}`},
		{"the root now", "/w/rec", "/", `{"t":"/w/rec/a /w/rec"}`, `{"t":"/a /"}`},
		{"the root then, in typed places only", "/", "/x/y", `{"path":"/a","cwd":"/","t":"/a"}`, `{"path":"/x/y/a","cwd":"/x/y","t":"/a"}`},
		{"one component, in typed places only", "/w", "/x", `{"path":"/w/a","t":"/w/a"}`, `{"path":"/x/a","t":"/w/a"}`},
		{"nothing to do", "/w/rec", "/w/rec", `{"t":"\/w\/rec"}`, `{"t":"\/w\/rec"}`},
		{"once only", "/w/rec", "/w/rec/w/rec", `{"t":"/w/rec/b"}`, `{"t":"/w/rec/w/rec/b"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r PathMap
			r.Learn(tt.recorded, tt.now)
			if got := string(r.Rewrite([]byte(tt.in))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			for size := range len(tt.in) {
				if got := inPieces(&r, tt.in, size+1); got != tt.want {
					t.Errorf("in pieces of %d bytes: got %s, want %s", size+1, got, tt.want)
				}
			}
		})
	}
}

// inPieces maps a message that comes in pieces.
func inPieces(r *PathMap, message string, size int) string {
	var b bytes.Buffer
	w := &PathWriter{w: &b, paths: r}
	for piece := range slices.Chunk([]byte(message), size) {
		w.Write(piece)
	}
	w.Flush()
	return b.String()
}

// A message in pieces is mapped as if it were whole, but for strings that are
// longer than is kept.
func FuzzPathWriter(f *testing.F) {
	f.Add(`{"path" : "/w/rec/a","t":["/w/rec","\\"], "data":"/w/rec"}`, uint8(3))
	f.Add(`"/w/rec" `, uint8(1))
	f.Add(`{"a":"\`, uint8(2))
	f.Fuzz(func(t *testing.T, message string, size uint8) {
		var r PathMap
		r.Learn("/w/rec", "/somewhere/else")
		got := inPieces(&r, message, int(size)+1)
		if want := string(r.Rewrite([]byte(message))); got != want && json.Valid([]byte(message)) {
			t.Errorf("in pieces of %d bytes: got %s, want %s", int(size)+1, got, want)
		}
	})
}

func TestPathWriterLongStrings(t *testing.T) {
	var r PathMap
	r.Learn("/w/rec", "/x/y")
	long := strings.Repeat(" ", maxString) + "/w/rec"
	in := `{"path":"/w/rec/a","content":"` + long + `","cwd":"/w/rec"}`
	want := `{"path":"/x/y/a","content":"` + long + `","cwd":"/x/y"}`
	if got := inPieces(&r, in, 64<<10); got != want {
		t.Errorf("got %d bytes with %.40s and %s", len(got), got, got[len(got)-40:])
	}
}
