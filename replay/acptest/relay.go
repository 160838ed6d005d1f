package acptest

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
)

// A message goes between a process and the test that serves it.
type message struct {
	PID  int            // of the process; only in its first message
	Dir  wire.Direction // which way Data goes
	Data []byte         // empty: stdin has ended
	Exit *wire.Exit     // how the process must end; the last message
}

// chunk is the number of bytes passed on at once: the capacity of a pipe.
const chunk = 64 << 10

// passOn relays the stdio of this process to the test listening at address, until the
// test says how to exit.
func passOn(address string) {
	conn, err := net.Dial("unix", address)
	if err != nil {
		fmt.Fprintf(os.Stderr, "acptest: the test has ended: %v\n", err)
		os.Exit(2)
	}
	go func() { // ends with the process
		e := gob.NewEncoder(conn)
		err := e.Encode(message{PID: os.Getpid()})
		buf := make([]byte, chunk)
		for err == nil {
			n, end := os.Stdin.Read(buf)
			if n > 0 {
				err = e.Encode(message{Data: buf[:n]})
			}
			if end != nil {
				e.Encode(message{})
				return
			}
		}
	}()
	for d := gob.NewDecoder(conn); ; {
		var m message
		switch err := d.Decode(&m); {
		case err != nil: // the test is gone
			os.Exit(2)
		case m.Exit != nil:
			os.Exit(replay.EndAs(*m.Exit))
		case m.Dir == wire.AgentStderr:
			os.Stderr.Write(m.Data)
		default:
			os.Stdout.Write(m.Data) // if the reader is gone, SIGPIPE ends us, as it does most agents
		}
	}
}

// A process is a relaying process as seen by the test.
type process struct {
	conn  net.Conn
	pid   int
	stdin *io.PipeReader
	fed   *io.PipeWriter
	gone  chan struct{} // closed when the process has ended
	over  atomic.Bool   // its stdin has ended

	mu  sync.Mutex
	enc *gob.Encoder // guarded by mu
}

func newProcess(conn net.Conn) (*process, error) {
	d := gob.NewDecoder(conn)
	var first message
	if err := d.Decode(&first); err != nil {
		return nil, err
	}
	p := &process{conn: conn, pid: first.PID, gone: make(chan struct{}), enc: gob.NewEncoder(conn)}
	p.stdin, p.fed = io.Pipe()
	go p.read(d)
	return p, nil
}

func (p *process) read(d *gob.Decoder) {
	defer close(p.gone)
	defer p.fed.Close()
	for {
		var m message
		if d.Decode(&m) != nil {
			return
		}
		if len(m.Data) == 0 {
			p.hangUp()
			continue
		}
		p.fed.Write(m.Data) // fails if the reader is gone
	}
}

// hangUp ends the stdin. Writes to the process then get a deadline, because its output
// most likely has no reader.
func (p *process) hangUp() {
	p.fed.Close()
	p.over.Store(true)
	p.conn.SetWriteDeadline(time.Now().Add(grace))
}

// end makes the process exit and waits for it.
func (p *process) end(how wire.Exit) {
	p.stdin.Close()
	p.hangUp()
	p.send(message{Exit: &how})
	select {
	case <-p.gone:
	case <-time.After(grace):
		p.kill()
	}
	p.conn.Close()
	<-p.gone
}

func (p *process) send(m message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over.Load() {
		p.conn.SetWriteDeadline(time.Now().Add(grace))
	}
	err := p.enc.Encode(m)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.kill()
	}
	return err
}

// kill kills a process that does not exit when told to.
func (p *process) kill() {
	if it, err := os.FindProcess(p.pid); err == nil {
		it.Kill()
	}
	p.conn.Close()
}

// An output is the stdout or the stderr of a process.
type output struct {
	process *process
	dir     wire.Direction
}

func (o output) Write(b []byte) (n int, err error) {
	for piece := range slices.Chunk(b, chunk) {
		if err := o.process.send(message{Dir: o.dir, Data: piece}); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}
