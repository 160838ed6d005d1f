// Package model provides a scripted model for agents under test: a local server that speaks
// the APIs of model providers, and an environment and a home directory that make agents use
// it.
//
// The agent gets a made-up key and a new home, so it finds neither the user's keys nor their
// settings. A proxy in its environment refuses requests to other machines.
package model

import (
	_ "embed"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/replay/probe"
)

// Key is the API key that agents get in place of the user's.
const Key = "acptap-scripted-model"

// A Model implements probe.Model. The zero Model is ready to use.
type Model struct {
	mu    sync.Mutex
	tools bool // an agent has offered tools, so questions without tools are side questions
}

// Start starts a server for one process.
func (m *Model) Start() (probe.Speaker, error) {
	home, err := os.MkdirTemp("", "acptap-home-")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.RemoveAll(home)
		return nil, err
	}
	s := &server{model: m, home: home, url: "http://" + l.Addr().String(), done: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // until Close
	}()
	if err := s.furnish(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// home.txt holds the environment, the files of the new home, and the variables that keep
// referring to the old home.
//
//go:embed home.txt
var homeText []byte

// secret matches the names of variables that may hold a key of the user.
var secret = lazyregexp.New(`(?i)(API_?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)|^(AWS|AZURE)_|^CLAUDE_CODE_USE_`)

// furnish writes the files of the home and builds the environment.
func (s *server) furnish() error {
	fill := strings.NewReplacer("${url}", s.url, "${home}", s.home, "${key}", Key)
	archive := txtar.Parse(homeText)
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); secret().MatchString(name) {
			s.env = append(s.env, name+"=")
		}
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "environment":
			for _, entry := range strings.Fields(string(f.Data)) {
				s.env = append(s.env, fill.Replace(entry)) // a path may contain blanks
			}
		case "keep":
			s.keep(strings.Fields(string(f.Data)))
		default:
			path := filepath.Join(s.home, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(fill.Replace(string(f.Data))), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep sets the variables that tell launchers such as npx where their files are, because by
// default they look in the home directory, which is a new one.
func (s *server) keep(entries []string) {
	old, err := os.UserHomeDir()
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, path, _ := strings.Cut(entry, "=")
		path = filepath.Join(old, filepath.FromSlash(path))
		if _, err := os.Stat(path); err == nil && os.Getenv(name) == "" {
			s.env = append(s.env, name+"="+path)
		}
	}
}

// Env implements probe.Speaker.
func (s *server) Env() []string { return s.env }

// Close implements probe.Speaker.
func (s *server) Close() error {
	err := s.http.Close()
	<-s.done
	os.RemoveAll(s.home)
	return err
}
