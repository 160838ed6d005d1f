package relay_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/testdata/browsertest"
)

// TestPagesInBrowser: requests of a page elsewhere, by embedding, linking or fetching, do not
// reach the server, whatever the host and port of the page. Those of a page of the server
// itself, and for a typed URL, do.
func TestPagesInBrowser(t *testing.T) {
	ctx := browsertest.Start(t)
	var mu sync.Mutex
	var asked []string // guarded by mu
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		mu.Lock()
		asked = append(asked, in.URL.RequestURI())
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>server</title>")
	})
	f := start(t, strings.Replace(s.URL, "://", "://ada:secret@", 1)+"/mcp", nil)
	page := server(t, func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Referrer-Policy", in.URL.Query().Get("policy"))
		io.WriteString(w, "<title>page</title>")
	})
	evaluate := func(expression string) {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise)); err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
	}
	loaded := make(chan struct{}, 1)
	if err := chromedp.Listen(ctx, func(ev any) {
		if _, ok := ev.(*cdppage.EventLoadEventFired); ok {
			loaded <- struct{}{}
		}
	}); err != nil {
		t.Fatal(err)
	}
	visit := func(url string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
			t.Fatal(err)
		}
		<-loaded
	}
	const load = `const load = (tag, name, url) => new Promise(done => {
		const e = document.createElement(tag);
		e.onload = e.onerror = () => done(true);
		e[name] = url;
		document.head.append(e);
	});`
	visit(f.url + "?typed")
	evaluate(`(() => { ` + load + `return load('img', 'src', '/mcp?own-image'); })()`)
	for _, host := range []string{"127.0.0.1", "page.localhost"} {
		for _, policy := range []string{"", "no-referrer"} {
			visit(strings.Replace(page.URL, "127.0.0.1", host, 1) + "/?policy=" + policy)
			evaluate(`(async () => { ` + load + `
				await load('img', 'src', '` + f.url + `?image');
				await load('script', 'src', '` + f.url + `?script');
				await fetch('` + f.url + `?fetch', {mode: 'no-cors'}).catch(() => 0);
				const frame = document.createElement('iframe');
				frame.src = '` + f.url + `?frame';
				await new Promise(done => { frame.onload = done; document.body.append(frame); });
				return true;
			})()`)
		}
		visit(strings.Replace(page.URL, "127.0.0.1", host, 1))
		evaluate(`(() => { location = '` + f.url + `?link'; return true; })()`)
		<-loaded
	}
	mu.Lock()
	defer mu.Unlock()
	asked = slices.DeleteFunc(asked, func(target string) bool { return target == "/favicon.ico" })
	if want := []string{"/mcp?typed", "/mcp?own-image"}; !slices.Equal(asked, want) {
		t.Errorf("the server was asked for %q, want %q", asked, want)
	}
}
