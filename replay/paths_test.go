package replay

import "testing"

func TestRoots(t *testing.T) {
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
			var r roots
			r.learn(tt.recorded, tt.now)
			if got := string(r.rewrite([]byte(tt.in))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
