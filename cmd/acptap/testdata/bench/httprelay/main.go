// Command httprelay is the reverse proxy of the standard library in front of the URL
// in its argument. It records nothing. It is what a relay of acptap is measured by.
package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	upstream, err := url.Parse(os.Args[1])
	if err != nil {
		os.Exit(99)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(99)
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", ln.Addr())
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(pr *httputil.ProxyRequest) { pr.SetURL(upstream) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		// Else the head of the response closes the body of the request. The Transport
		// may be about to look for its end then, and breaks the response off.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, in)
	}))
}
