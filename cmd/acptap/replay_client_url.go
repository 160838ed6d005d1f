package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/front"
)

// serverFronts replay MCP servers to an agent that reaches them by URL.
type serverFronts struct {
	store  *record.Store
	stderr io.Writer
	open   []func() // each ends one front and notes its misses
	notes  []string // misses and errors
}

// url starts playing a tape and returns its URL, or "" if tape is "". If the tape cannot be
// played, url notes that and returns a URL where nothing answers, because AGENT must not
// reach the real server.
func (s *serverFronts) url(server, tape string) string {
	if tape == "" {
		return ""
	}
	u, err := s.play(server, tape)
	if err != nil {
		s.note(server, "the tape cannot be played: "+err.Error())
		return "http://127.0.0.1:9/" // discard (RFC 863)
	}
	return u
}

func (s *serverFronts) play(server, tape string) (string, error) {
	if v := otherProxy(os.Getenv); v != "" {
		return "", fmt.Errorf("AGENT would look for it behind %s; with NO_PROXY=127.0.0.1 it does not", v)
	}
	sub, err := ref.Resolve(s.store.Dir(), tape, nil)
	if err != nil {
		return "", err
	}
	fr, err := front.New(replay.Agent{Tapes: sub.Tapes(), Partial: true})
	if err != nil {
		return "", err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	errOut, flush := cli.Sanitized(s.stderr)
	fr.Address, fr.Stderr = &url.URL{Scheme: "http", Host: ln.Addr().String()}, &lockedWriter{w: errOut}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, fr) }()
	s.open = append(s.open, func() {
		stop()
		if err := <-served; err != nil {
			s.note(server, err.Error())
		}
		results := fr.Close()
		flush()
		for _, r := range results {
			for _, miss := range r.Report.Misses {
				s.note(server, miss.String())
			}
			if r.Err != nil && !errors.Is(r.Err, replay.ErrDiverged) {
				s.note(server, r.Err.Error())
			}
		}
	})
	return fr.Address.JoinPath(fr.Path()).String(), nil
}

func (s *serverFronts) note(server, text string) { s.notes = append(s.notes, serverNote(server, text)) }

// close ends all fronts and returns their notes.
func (s *serverFronts) close() []string {
	for _, end := range s.open {
		end()
	}
	return s.notes
}
