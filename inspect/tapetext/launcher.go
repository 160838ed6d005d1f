package tapetext

import "strings"

// A launcher is a program that runs another one named in its arguments.
type launcher struct {
	names string // without .exe, and without the versions of interpreters
	verbs string // the first argument must be one of these; empty: there is no verb
	then  string // the argument after the verb; empty: any

	values string // options whose value is the next argument
	skip   int    // number of arguments before the target, such as a duration
	dashed bool   // the target follows --
	what   target // kind of target

	// Options whose value is the target, instead of an argument. In a group of letters,
	// such as -lc, the last one may be such an option.
	shell  string // for a shell
	module string
	rest   string // with all later arguments
	code   string // program text, which has no name
}

// A target is the kind of thing that a launcher runs.
type target uint8

const (
	aProgram target = iota // with its arguments
	aScript                // a file, a module or a URL
	aPackage               // perhaps with a version
	anImage                // for a container
	aFlake                 // for Nix
	aLine                  // arguments, joined into a shell command
)

// launchers are the programs that do not themselves name the agent.
var launchers = []launcher{
	{names: "env", values: "-u --unset -C --chdir -P -a --argv0", shell: "-S --split-string"},
	{names: "sudo doas", values: "-u -g -h -p -C -r -t -T -U -R -D --user --group --host --prompt --close-from --chroot --chdir --role --type --other-user --command-timeout"},
	{names: "nice ionice", values: "-n -c --adjustment --class --classdata"},
	{names: "nohup setsid exec command caffeinate winpty unbuffer dbus-run-session", values: "-a"},
	{names: "time gtime", values: "-f -o --format --output"},
	{names: "timeout gtimeout", values: "-s -k --signal --kill-after", skip: 1},
	{names: "stdbuf gstdbuf", values: "-i -o -e --input --output --error"},
	{names: "strace ltrace", values: "-o -e -s -a -u -E -P -O -S -I"},
	{names: "mise rtx", verbs: "x exec", dashed: true},
	{names: "op doppler infisical dotenvx aws-vault", verbs: "run exec", dashed: true},
	{names: "direnv", verbs: "exec", skip: 1},
	{names: "asdf pyenv rbenv nodenv bundle", verbs: "exec"},
	{names: "nix", verbs: "shell develop", rest: "-c --command"},
	{names: "nix", verbs: "run", values: "--override-input --inputs-from --option --profile -f --file --include -I", what: aFlake},
	{names: "nix-shell", values: "-p --packages -I", shell: "--run --command"},
	{names: "ssh autossh", values: "-b -B -c -D -E -e -F -I -i -J -L -l -M -m -O -o -p -P -Q -R -S -W -w", skip: 1, what: aLine},
	{names: "wsl", values: "-d --distribution -u --user --cd --shell-type"},
	{names: "acptap", verbs: "proxy", values: "--name --store --protocol", dashed: true},
	{names: "acptap-proxy", values: "--name --store --protocol", dashed: true},

	{names: "docker podman nerdctl", verbs: "exec", values: "-e --env --env-file -u --user -w --workdir --detach-keys", skip: 1},
	{names: "docker podman nerdctl", verbs: "run", values: containerOptions, what: anImage},
	{names: "docker podman", verbs: "compose", then: "run", values: containerOptions, what: aPackage},

	{names: "sh bash dash zsh ksh ash fish", values: "-o -O --rcfile --init-file", shell: "-c --command", what: aScript},
	{names: "cmd", values: "", what: aLine},
	{names: "powershell pwsh", values: "-ExecutionPolicy -ep -ex -WindowStyle -w -Version -WorkingDirectory", shell: "-Command -c", module: "-File -f"},

	{names: "npx bunx pnpx", values: packageOptions, shell: "-c --call", what: aPackage},
	{names: "npm", verbs: "exec x", values: packageOptions, shell: "-c --call", what: aPackage},
	{names: "pnpm yarn", verbs: "dlx exec", values: packageOptions + " -C --dir --filter -F --cwd", what: aPackage},
	{names: "npm pnpm yarn bun", verbs: "run run-script", values: "--prefix -C --dir --cwd --filter -F -w --workspace", what: aScript},
	{names: "bun", verbs: "x", values: packageOptions, what: aPackage},
	{names: "uvx", values: uvOptions, what: aPackage},
	{names: "uv", verbs: "tool", then: "run", values: uvOptions, what: aPackage},
	{names: "uv", verbs: "run", values: uvOptions, module: "-m --module"},
	{names: "pipx", verbs: "run", values: "--spec --python --index-url -i --pip-args", what: aPackage},
	{names: "poetry pdm hatch rye pipenv conda mamba micromamba pixi", verbs: "run", values: "-n --name -p --prefix --project -C --directory --cwd -e --environment --manifest-path"},

	{names: "node nodejs", values: "-r --require --import --loader --experimental-loader --env-file -C --conditions --title --input-type", code: "-e --eval -p --print", what: aScript},
	{names: "tsx ts-node ts-node-esm vite-node", values: "-r --require --import --tsconfig -P --project", code: "-e --eval", what: aScript},
	{names: "bun", values: "-r --preload --env-file -c --config --cwd", code: "-e --eval", what: aScript},
	{names: "deno", verbs: "run", values: "-c --config --import-map --lock --cert --seed --env-file --location", what: aScript},
	{names: "python pythonw pypy py", values: "-W -X", module: "-m", code: "-c", what: aScript},
	{names: "ruby perl lua php rscript", values: "-I -r -M", code: "-e", what: aScript},
	{names: "java", values: "-cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads", module: "-jar -m --module", what: aScript},
	{names: "dotnet", verbs: "run", values: "-c --configuration -f --framework -r --runtime", module: "--project -p", what: aScript},
	{names: "dotnet", what: aScript},
	{names: "go", verbs: "run", values: "-C -tags -mod -modfile -ldflags -gcflags -asmflags -overlay -exec -p", what: aPackage},
	{names: "cargo", verbs: "run r", values: "--manifest-path --features -F --target --target-dir --profile -j --jobs --color --config -Z", module: "-p --package --bin --example"},
}

const (
	packageOptions = "-p --package --registry --userconfig --cache --prefix --node-arg --shell -w --workspace"
	uvOptions      = "--from --with --with-editable --with-requirements -p --python --index-url -i --index --default-index --extra-index-url -f --find-links --directory --project --cache-dir --env-file --config-file --extra --group --package -P --upgrade-package --refresh-package --color"

	containerOptions = "-e --env --env-file -v --volume -w --workdir --name --network --net -p --publish -u --user --entrypoint --mount -l --label --platform -h --hostname --add-host --cpus -m --memory --gpus --ipc --pid --pull --restart --shm-size --ulimit --device --dns --log-driver --log-opt --tmpfs --cap-add --cap-drop --security-opt --cidfile -a --attach --userns --runtime --volumes-from --group-add --stop-signal --stop-timeout --link --expose --cgroupns --annotation --secret"
)

// launches returns the launcher for a program with the given arguments, and the arguments
// after the verb. ok is false if the program is not a launcher.
func launches(name string, args []string) (l launcher, rest []string, ok bool) {
	for _, l := range launchers {
		if !among(l.names, name) {
			continue
		}
		if l.verbs == "" {
			return l, args, true
		}
		rest := args
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			rest = rest[min(l.takes(rest[0]), len(rest)):]
		}
		if len(rest) == 0 || !among(l.verbs, rest[0]) {
			continue
		}
		if rest = rest[1:]; l.then != "" {
			if len(rest) == 0 || rest[0] != l.then {
				continue
			}
			rest = rest[1:]
		}
		return l, rest, true
	}
	return launcher{}, nil, false
}

// takes returns the number of arguments that an option occupies: two if its value is the
// next argument. An unknown option that appears to take a secret counts as two as well.
func (l *launcher) takes(option string) int {
	if strings.Contains(option, "=") {
		return 1
	}
	if among(l.values, option) {
		return 2
	}
	for _, word := range []string{"token", "key", "secret", "pass", "auth", "cred", "header", "url"} {
		if strings.HasPrefix(option, "--") && strings.Contains(strings.ToLower(option), word) {
			return 2
		}
	}
	return 1
}

// among reports whether a word is in a blank-separated list.
func among(list, word string) bool {
	for one := range strings.FieldsSeq(list) {
		if one == word {
			return true
		}
	}
	return false
}

// given reports whether an argument is one of some options, or is a group that ends in a
// single-letter one.
func given(options, arg string) bool {
	if among(options, arg) {
		return true
	}
	if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
		return false
	}
	for i := 1; i < len(arg); i++ {
		if c := arg[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return len(arg) <= 4 && among(options, "-"+arg[len(arg)-1:])
}
