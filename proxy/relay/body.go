package relay

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// maxWhole limits how much of a request's body is read before the request is passed on. A
// body that fits shows which connection the request belongs to, and can be sent again if
// the server closes a kept connection at that moment. Longer bodies stream.
const maxWhole = 1 << 20

// A requestBody is the body of a request, or the beginning of a long one.
type requestBody struct {
	head  []byte
	whole bool
	rest  io.Reader // the rest after head, if the body is not whole
	err   error     // why it could not be read
}

// readBody reads the body of a request, up to maxWhole.
func readBody(in *http.Request) requestBody {
	if in.Body == nil || in.Body == http.NoBody || in.ContentLength == 0 {
		return requestBody{whole: true}
	}
	head := make([]byte, 0, min(max(in.ContentLength, 511), maxWhole)+1) // room to see the end of a body of known length
	for len(head) <= maxWhole {
		if len(head) == cap(head) {
			head = append(make([]byte, 0, min(2*cap(head), maxWhole+1)), head...)
		}
		n, err := in.Body.Read(head[len(head):cap(head)])
		if head = head[:len(head)+n]; err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return requestBody{head: head, whole: len(head) <= maxWhole, rest: in.Body, err: err}
		}
	}
	return requestBody{head: head, rest: in.Body}
}

// reader returns the body for the server.
func (b requestBody) reader(x *exchange) io.ReadCloser {
	if b.whole {
		body, _ := b.again()
		return body
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(b.head), &upload{b.rest, x}))
}

// again is GetBody of a request whose body is whole.
func (b requestBody) again() (io.ReadCloser, error) {
	if len(b.head) == 0 {
		return http.NoBody, nil
	}
	return io.NopCloser(bytes.NewReader(b.head)), nil
}

var errOver = errors.New("the exchange is over")

// An upload is the rest of a long body.
type upload struct {
	src io.Reader
	x   *exchange
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.src.Read(p)
	if !u.x.up.write(wire.Wire, p[:n]) {
		return 0, errOver
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		u.x.requestEnd()
	default:
		u.x.up.end(wire.ByClient, err.Error())
	}
	return n, err
}

// A responseBody is the body of a response.
type responseBody struct {
	src   io.ReadCloser
	x     *exchange
	first *firstEvent // not nil while waiting for the first event
	ready []byte      // recorded, but not passed on yet
	err   error       // error to return after ready
}

func (b *responseBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		n, err := b.src.Read(p)
		if b.first == nil {
			return b.passed(p[:n], err)
		}
		b.await(p[:n], err)
	}
	n := copy(p, b.ready)
	if b.ready = b.ready[n:]; len(b.ready) > 0 {
		return n, nil
	}
	return n, b.err
}

// passed records bytes that Read is about to return.
func (b *responseBody) passed(p []byte, err error) (int, error) {
	if !b.x.down.write(wire.Wire, p) {
		return 0, errOver
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.x.responseEnd()
	default:
		b.x.w.flush() // if the response breaks off, the client gets what has arrived so far
		b.x.down.end(b.x.broken(err))
	}
	return len(p), err
}

// Close is called when the client has received everything, or has stopped reading.
func (b *responseBody) Close() error {
	b.x.down.end(b.x.left())
	return b.src.Close()
}

// A socket is an upgraded connection to the server.
type socket struct {
	io.ReadWriteCloser
	x *exchange
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	return (&responseBody{x: s.x}).passed(p[:n], err)
}

func (s *socket) Write(p []byte) (int, error) {
	if !s.x.up.write(wire.Wire, p) {
		return 0, errOver
	}
	n, err := s.ReadWriteCloser.Write(p)
	if err != nil {
		s.x.up.end(s.x.broken(err))
	}
	return n, err
}

// CloseWrite is called when the client will send no more.
func (s *socket) CloseWrite() error {
	s.x.up.end(wire.ByClient, "")
	if half, ok := s.ReadWriteCloser.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return s.ReadWriteCloser.Close()
}

func (s *socket) Close() error {
	s.x.up.end(s.x.left())
	s.x.down.end(s.x.left())
	return s.ReadWriteCloser.Close()
}

// buffers are the buffers for copying bodies.
type buffers struct{ pool sync.Pool }

type buffer [32 << 10]byte

// Get is httputil.BufferPool.Get.
func (b *buffers) Get() []byte {
	one, ok := b.pool.Get().(*buffer)
	if !ok {
		one = new(buffer)
	}
	return one[:]
}

// Put is httputil.BufferPool.Put.
func (b *buffers) Put(p []byte) { b.pool.Put((*buffer)(p)) }
