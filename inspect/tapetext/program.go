package tapetext

import (
	"net/url"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/redact"
)

// program names the agent that a command line runs: by its program, script, package or
// image, regardless of what launches it. The name never contains an agent's argument or a
// variable's value, since these may be secret.
func program(command []string) string {
	if len(command) == 0 {
		return ""
	}
	if name := programIn(command, 0); name != "" && !strings.HasPrefix(name, "-") && !strings.Contains(name, "=") {
		return name
	}
	return bareName(command[0])
}

// deepestLaunch limits the number of nested launchers.
const deepestLaunch = 16

// programIn is like program, but returns nothing if a launcher names nothing.
func programIn(command []string, depth int) string {
	for len(command) > 0 && redact.IsAssignment(command[0]) {
		command = command[1:]
	}
	if len(command) == 0 || depth > deepestLaunch {
		return ""
	}
	name := bareName(command[0])
	l, args, ok := launches(strings.TrimRight(strings.ToLower(name), "0123456789."), command[1:])
	if !ok {
		l, args, ok = launches(strings.ToLower(name), command[1:])
	}
	if !ok {
		return name
	}
	if what := l.run(args, depth); what != "" {
		return what
	}
	return name
}

// run returns the name of what a launcher runs, given the launcher's arguments.
func (l *launcher) run(args []string, depth int) string {
	if i := slices.Index(args, "--"); l.dashed && i >= 0 {
		return programIn(args[i+1:], depth+1)
	}
	for len(args) > 0 && l.isOption(args[0]) {
		option, rest := args[0], args[1:]
		switch {
		case option == "--":
			return l.name(rest, depth)
		case len(rest) > 0 && given(l.shell, option):
			return programInLine(rest[0], rest[1:], depth)
		case len(rest) > 0 && given(l.module, option):
			return scriptName(rest[0])
		case given(l.rest, option):
			return programIn(rest, depth+1)
		case given(l.code, option):
			return ""
		}
		if name, value, ok := strings.Cut(option, "="); ok {
			switch {
			case among(l.shell, name):
				return programInLine(value, nil, depth)
			case among(l.module, name):
				return scriptName(value)
			}
		}
		args = args[min(l.takes(option), len(args)):]
	}
	if l.rest != "" || l.dashed {
		return ""
	}
	return l.name(args, depth)
}

// isOption reports whether an argument is an option. Those of cmd begin with a slash.
func (l *launcher) isOption(arg string) bool {
	return strings.HasPrefix(arg, "-") || l.names == "cmd" && len(arg) == 2 && arg[0] == '/'
}

// name returns the name of the target that the arguments after the options specify.
func (l *launcher) name(args []string, depth int) string {
	if l.what == aProgram {
		for len(args) > 0 && redact.IsAssignment(args[0]) { // assignments precede what is skipped
			args = args[1:]
		}
	}
	if len(args) <= l.skip {
		return ""
	}
	args = args[l.skip:]
	switch l.what {
	case aScript:
		return scriptName(args[0])
	case aPackage:
		return packageName(args[0])
	case anImage:
		image, _, _ := strings.Cut(lastName(args[0]), "@")
		image, _, _ = strings.Cut(image, ":")
		return image
	case aFlake:
		flake, attr, _ := strings.Cut(args[0], "#")
		if attr != "" {
			return attr[strings.LastIndexByte(attr, '.')+1:]
		}
		return packageName(flake)
	case aLine:
		if len(args) > 1 && l.names == "cmd" { // its arguments are already split
			return programIn(args, depth+1)
		}
		return programInLine(strings.Join(args, " "), nil, depth)
	}
	return programIn(args, depth+1)
}

// lastName returns the last element of a path.
func lastName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// bareName returns the name of a program file without its Windows extension.
func bareName(path string) string {
	name := lastName(path)
	if i := len(name) - len(".exe"); i > 0 && among(".exe .cmd .bat .com .ps1", strings.ToLower(name[i:])) {
		return name[:i]
	}
	return name
}

// packageName returns a package's name without its scope, version and origin.
func packageName(spec string) string {
	spec, _, _ = strings.Cut(pathOf(spec), "#")
	if at := strings.LastIndexByte(spec, '@'); at > strings.LastIndexByte(spec, '/')+1 {
		spec = spec[:at]
	}
	name := lastName(spec)
	name = name[strings.LastIndexByte(name, ':')+1:] // npm:x, github:x
	if i := strings.IndexAny(name, "[<>=!~"); i > 0 {
		name = name[:i]
	}
	if name = strings.TrimSuffix(name, ".git"); name == "." || name == ".." {
		return ""
	}
	return name
}

// scriptName returns the name of a file or module, or of its package if the file name is
// generic.
func scriptName(path string) string {
	if strings.HasPrefix(path, "npm:") || strings.HasPrefix(path, "jsr:") {
		return packageName(path)
	}
	path = pathOf(path)
	parts := strings.FieldsFunc(strings.TrimSuffix(path, ".__main__"), func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range slices.Backward(parts) {
		switch stem, _, _ := strings.Cut(part, "."); {
		case part == "node_modules": // the package is the next element
			return parts[min(i+1, len(parts)-1)]
		case !among(anybodys, strings.ToLower(stem)) && stem != "":
			return part
		}
	}
	return lastName(path)
}

// pathOf returns a URL's path, or its host if the path is empty: the other parts may be
// secret. It returns other text unchanged.
func pathOf(spec string) string {
	u, err := url.Parse(spec)
	switch {
	case !strings.Contains(spec, "://"):
		return spec
	case err != nil:
		return ""
	case strings.Trim(u.Path, "/") == "":
		return u.Hostname()
	}
	return u.Path
}

// anybodys are generic names of files and directories, which say nothing about their
// content.
const anybodys = "index main cli server app start run bin mod __main__ dist build lib src out target debug release cjs esm acp mcp stdio"
