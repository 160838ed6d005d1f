// Package wrap provides the commands that put acptap before agents in the settings of
// their clients, and remove it again. Package settings edits the files.
package wrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/settings"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy/lazyregexp"
)

// Commands holds what the commands need from their program.
type Commands struct {
	Store *string // the flag --store
}

// flags holds the flags of both commands.
type flags struct {
	Commands
	all, project  bool
	file          string
	dry, asJSON   bool
	added, with   string
	status, reset bool // reset: --with was given

	unfit error // why settings cannot start this program
}

func (o *flags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "all entries, except those that cannot be")
	f.StringVar(&o.file, "file", "", "the settings `file`, if it is not where the client usually has it")
	f.BoolVar(&o.project, "project", false, "the settings of the project in the working directory")
	f.BoolVar(&o.dry, "dry-run", false, "only print what would be changed, as a unified diff")
	f.BoolVar(&o.asJSON, "json", false, "one JSON object a line")
}

// setup returns the machine, the directory for undoing, and the command to put before
// agents.
func (o *flags) setup() (*settings.Setup, error) {
	m, err := settings.This()
	if err != nil {
		return nil, err
	}
	store, err := ref.OpenStore(*o.Store)
	if err != nil {
		return nil, err
	}
	s := &settings.Setup{Machine: m, Undo: settings.Undo{Dir: filepath.Join(store.Dir(), "wraps")}}
	// Clients pass on few variables, so the command must name a store that is not the
	// default.
	if *o.Store != "" || os.Getenv("ACPTAP_STORE") != "" || filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		s.Wrapper.Store = store.Dir()
	}
	small := true
	if o.reset {
		if s.Wrapper.With, small, err = proxyFlags(o.with); err != nil {
			return nil, err
		}
	}
	s.Wrapper.Recorder, s.Programs, o.unfit = programs(os.Executable, os.Getenv("PATH"), small)
	return s, nil
}

// proxyFlags splits a text into words, which must be flags of acptap proxy. small reports
// whether acptap-proxy can handle them.
func proxyFlags(text string) (words []string, small bool, err error) {
	words, err = settings.SplitWords(text)
	if err != nil {
		return nil, false, fmt.Errorf("--with %q: %w", text, err)
	}
	proxy := tap.NewProgram(nil)
	err = proxy.ParseFlags(words)
	if rest := proxy.Flags().Args(); err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q is no flag", rest[0])
	}
	if err != nil {
		return nil, false, fmt.Errorf("--with takes flags of acptap proxy, such as '--sessions': %w", err)
	}
	return append([]string{}, words...), !tap.NeedsAcptap(proxy.Flags()), nil
}

// npmCache matches programs that npx, pnpm dlx or bunx has installed for one call.
var npmCache = lazyregexp.New(`/_npx/|/pnpm/dlx/|/bunx-`)

// programs returns the command to put before an agent's, and the paths of all programs
// that record. The command is acptap-proxy only if small is set.
func programs(executable func() (string, error), path string, small bool) (recorder, all []string, err error) {
	exe, err := executable()
	if err != nil {
		return nil, nil, err
	}
	if path := filepath.ToSlash(exe); strings.Contains(path, "/go-build") && strings.Contains(path, "/exe/") {
		return nil, nil, errors.New("this acptap is gone when go run ends, so no client could start it; go install ./cmd/acptap/... installs it first")
	}
	if npmCache().MatchString(filepath.ToSlash(exe)) {
		return nil, nil, errors.New("this acptap is in a cache that npx may empty, and then no client could start it; npm install -g acptap installs it first")
	}
	recorder, err = cli.Acptap.Recorder(executable, path)
	if err != nil {
		return nil, nil, err
	}
	acptap, err := cli.Acptap.Self(executable, path)
	all = []string{recorder[0], acptap}
	if !small {
		recorder = []string{acptap, "proxy"}
	}
	return recorder, all, err
}
