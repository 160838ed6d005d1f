package nest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// entry returns the replacement for an entry, or nil to keep it.
func (r *Rewriter) entry(entry []byte, s dialect.Server) []byte {
	link := NewLink
	if r.Link != nil {
		link = r.Link
	}
	p := Parent{r.Tape, link(), argument(s.Name)}
	if s.Kind == dialect.StdioServer {
		return r.stdio(entry, p)
	}
	url, err := r.URL(p, s.Kind, wire.Text(wire.Get(entry, "url")))
	if err != nil {
		r.complain("MCP server %s is not recorded: %v", s.Name, err)
		return nil
	}
	return wire.Set(entry, wire.Encode(url), "url")
}

// stdio is entry for a server that the agent starts.
func (r *Rewriter) stdio(entry []byte, p Parent) []byte {
	command, args := wire.Get(entry, "command"), wire.Get(entry, "args")
	if !wire.Present(args) {
		args = []byte("[]")
	}
	if args[0] != '[' {
		return nil // the agent will refuse it anyway
	}
	if known, alone := r.isRecorder(wire.Text(command)); known {
		at, _, told := recorderFlags(args, alone)
		switch {
		case told:
			return nil
		case at > 0:
			return wire.Set(entry, slices.Concat(args[:at], wire.Encode("--parent"), []byte(","), wire.Encode(p.String()), []byte(","), args[at:]), "args")
		}
	}
	own := append(slices.Clone(r.Recorder[1:]), "--store", r.Store, "--parent", p.String())
	if p.Server != "" {
		own = append(own, "--name", p.Server)
	}
	own = append(own, "--protocol", "mcp", "--")
	list := append(bytes.TrimSuffix(wire.Encode(own), []byte("]")), ',')
	list = append(list, command...)
	rest := args[1:]
	if len(bytes.TrimLeft(rest, " \t\r\n")) > len("]") {
		list = append(list, ',')
	}
	return wire.Set(wire.Set(entry, append(list, rest...), "args"), wire.Encode(r.Recorder[0]), "command")
}

// isRecorder reports whether a program is acptap or acptap-proxy. alone says that it is
// acptap-proxy, which records without the word proxy.
func (r *Rewriter) isRecorder(program string) (known, alone bool) {
	switch name := ProgramName(program); {
	case name == "acptap", name == "acptap-proxy":
		return true, name != "acptap"
	case name == ProgramName(r.Recorder[0]) || sameFile(program, r.Recorder[0]):
		return true, len(r.Recorder) == 1
	}
	return false, false
}

// recorderFlags returns where the flags of acptap-proxy (alone) or of acptap proxy begin
// in its arguments, or 0 if acptap is to do something else. told reports whether they
// already name the server's parent.
func recorderFlags(args []byte, alone bool) (at int, parent string, told bool) {
	spans := wire.Find(args, "#")
	word := func(i int) string {
		if i >= len(spans) {
			return ""
		}
		return wire.Text(args[spans[i].Start:spans[i].End])
	}
	i := 0
	if !alone {
		switch {
		case word(0) == "--store":
			i = 2
		case strings.HasPrefix(word(0), "--store="):
			i = 1
		}
		if word(i) != "proxy" {
			return 0, "", false
		}
		i++
	}
	if i == len(spans) {
		return 0, "", false
	}
	for at = spans[i].Start; i < len(spans) && word(i) != "--"; i++ {
		if word(i) == "--parent" {
			return at, word(i + 1), true
		}
		if value, ok := strings.CutPrefix(word(i), "--parent="); ok {
			return at, value, true
		}
	}
	return at, "", false
}

// maxName limits a server's name in arguments, whose length systems limit.
const maxName = 256

// argument returns a name in a form that is valid as a program's argument.
func argument(name string) string {
	name = strings.ReplaceAll(name, "\x00", "")
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}
