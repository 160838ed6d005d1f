package model

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
)

// pass is the proxy in the environment of the agent. It refuses other machines. Some agents
// ask this one through it, too, whatever NO_PROXY says: Qwen Code 0.15.
func (s *server) pass(w http.ResponseWriter, r *http.Request) {
	switch {
	case !isHere(r.Host):
		s.refuse(r.Host)
		http.Error(w, "acptap probe --model lets nothing leave this machine", http.StatusForbidden)
	case r.Method == http.MethodConnect:
		tunnel(w, r.Host)
	default:
		(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}).ServeHTTP(w, r)
	}
}

// isHere reports whether an address is one of this machine.
func isHere(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// tunnel connects the agent with an address of this machine, until one of them ends it.
func tunnel(w http.ResponseWriter, address string) {
	there, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		here.Close()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(there, buffered) // until an end
		there.Close()
	}()
	_, _ = io.Copy(here, there) // until an end
	here.Close()
	<-done
}
