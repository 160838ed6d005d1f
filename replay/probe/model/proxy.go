package model

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
)

// pass is the proxy in the agent's environment. It refuses requests to other machines. It
// accepts those to this machine, because some agents (Qwen Code 0.15) ignore NO_PROXY.
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

// isHere reports whether address is on this machine.
func isHere(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// tunnel connects the agent to a local address until one of them closes the connection.
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
		_, _ = io.Copy(there, buffered) // until one side closes
		there.Close()
	}()
	_, _ = io.Copy(here, there) // until one side closes
	here.Close()
	<-done
}
