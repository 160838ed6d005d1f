package relay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve serves a listener's clients, over HTTP/1.1 and over HTTP/2 without TLS, until ctx
// ends. Then it breaks off open requests and returns nil. It closes ln.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	base, breakOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer breakOff(nil)
	requests := inFlight{handler: h, none: make(chan struct{})}
	srv := &http.Server{
		Handler:           &requests,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: dialTime,
		IdleTimeout:       keepTime,
		MaxHeaderBytes:    maxHead,
		ErrorLog:          silent,
		Protocols:         new(http.Protocols),

		DisableGeneralOptionsHandler: true,
	}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	ended := context.AfterFunc(ctx, func() {
		breakOff(errEnding)
		srv.Close()
	})
	defer ended()
	err := srv.Serve(ln)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	breakOff(errEnding)
	srv.Close()
	requests.wait()
	return err
}

// inFlight counts the requests that its handler is working on.
type inFlight struct {
	handler http.Handler

	mu     sync.Mutex
	n      int           // guarded by mu
	ending bool          // guarded by mu
	none   chan struct{} // closed once it is ending and n is 0
}

func (f *inFlight) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if !f.count(1) {
		panic(http.ErrAbortHandler)
	}
	defer f.count(-1)
	f.handler.ServeHTTP(w, in)
}

// count returns false if no more requests are accepted.
func (f *inFlight) count(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ending && n > 0 {
		return false
	}
	if f.n += n; f.ending && f.n == 0 {
		close(f.none)
	}
	return true
}

// wait stops accepting requests and waits up to endingTime for the open ones.
func (f *inFlight) wait() {
	f.mu.Lock()
	if f.ending = true; f.n == 0 {
		close(f.none)
	}
	f.mu.Unlock()
	select {
	case <-f.none:
	case <-time.After(endingTime):
	}
}
