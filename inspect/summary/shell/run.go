package shell

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// A run is a command of a chain.
type run struct {
	words []string // the program without its directory, and what it was given
	name  string   // the program that runs in the end, and its subcommand: "vitest run" of "npx vitest run a.ts"
	given []string // the words after these
}

func parseRun(words []string) run {
	rest := strings.Join(words, " ")
	for {
		lead := launcher().FindString(rest)
		if next := rest[len(lead):]; lead != "" && next != "" && next[0] != '-' {
			rest = next
			continue
		}
		break
	}
	r := run{words: words, given: strings.Fields(rest)}
	r.name, r.given = base(r.given[0]), r.given[1:]
	n := 0 // of the words that are flags before the subcommand
	for n+1 < len(r.given) && (whereFlag().MatchString(r.given[n]) || idle().MatchString(r.given[n])) {
		if n++; whereFlag().MatchString(r.given[n-1]) {
			n++
		}
	}
	for n < len(r.given) && !slices.Contains(simple, r.name) && subcommand().MatchString(r.given[n]) {
		word := r.given[n]
		r.name += " " + word
		if r.given = slices.Delete(r.given, n, n+1); !followed().MatchString(word) && !slices.Contains(targeted, r.name[:strings.IndexByte(r.name, ' ')]) {
			break
		}
	}
	return r
}

var (
	// launcher matches what stands before the program that a command runs in the end.
	launcher = lazyregexp.New(`^(?:(?:sudo|time|nice|nohup|npx|bunx|pnpx|xvfb-run|timeout(?: -\S+)* \S+|(?:npm|pnpm|yarn|bundle) exec|(?:uv|poetry|pipenv|pdm|hatch) run|docker(?:-| )compose (?:exec|run)(?: -\S+)* \S+)(?: -\S+)*|(?:python|php|ruby|node|bash|sh)[\d.]*(?: -[mS])?) `)
	// whereFlag matches flags with a value that may come before a subcommand, and subcommand what may
	// be one; so may a flag of Node.
	whereFlag  = lazyregexp.New(`^(?:-[Cnfp]|--(?:` + places + `))$`)
	subcommand = lazyregexp.New(`^(?::?\w[\w:@-]*|--test)$`)
	// followed matches subcommands that have one themselves.
	followed = lazyregexp.New(`^(?:run|compose)$`)
)

// places are the names of flags that say only where a command acts.
const places = `prefix|cwd|dir|chdir|project|namespace|kube-context|context|profile|region`

// placeWords match such flags with what they are given.
var placeWords = lazyregexp.New(` --?(?:` + places + `)[= ]\S+`)

// WithoutPlaces returns a command line without the flags that say only where it acts.
func WithoutPlaces(text string) string { return placeWords().ReplaceAllString(text, "") }

// targeted are programs that are given targets, several as well as one.
var targeted = strings.Fields("bazel gmake gradle gradlew just make mvn mvnw ninja task")

// simple are programs without subcommands.
var simple = strings.Fields("awk bat cat chmod cp curl cut diff du echo egrep env find grep head jq kill less ls mkdir mv printf pwd rg rm sed sleep sort tail tar tee touch tree uniq wc wget which xargs")

// program returns the first word of the name.
func (r *run) program() string {
	program, _, _ := strings.Cut(r.name, " ")
	return program
}

// tests reports whether the command runs tests.
func (r *run) tests() bool {
	return testName().MatchString(r.program()) || slices.ContainsFunc(strings.Fields(r.name)[1:], isTestWord) || slices.ContainsFunc(r.given, isTestWord)
}

// isTestWord reports whether a word that a program is given names tests, not a file of them.
func isTestWord(word string) bool {
	return !strings.ContainsAny(word, "/.") && testName().MatchString(word)
}

// testName matches programs, subcommands, flags and targets that run tests.
var testName = lazyregexp.New(`(?i)(?:^|[/_:-])(?:c|unit)?tests?(?:$|[/_:.-])|^(?:pytest|nextest|jest|vitest|mocha|rspec|phpunit)$`)

// works reports whether the command builds, tests or installs something.
func (r *run) works() bool {
	return working().MatchString(r.name) && !preparing().MatchString(r.name)
}

var (
	working   = lazyregexp.New(`(?i)build|test|check|make|compile|install|lint|rspec`)
	preparing = lazyregexp.New(`^(?:mkdir|rm|cp|mv|export|source|git)\b| clean$`)
)

// commits reports whether the command makes a commit.
func (r *run) commits() bool { return r.name == "git commit" }

// selects reports whether the command can do only a part of its work, if it is given what.
func (r *run) selects() bool { return r.tests() || building().MatchString(r.name) }

var (
	building = lazyregexp.New(`(?:^| )(?:build|check|lint|vet|clippy)\b`)

	// compiling matches commands that only compile.
	compiling = lazyregexp.New(`^(?:cargo (?:build|check)|dotnet restore|(?:go|swift|bazel|dotnet|cabal|stack|zig) build|mvnw? compile|gradlew?(?: (?:compile|assemble)\w*)+)$`)
	// compilesFirst matches commands that compile first.
	compilesFirst = lazyregexp.New(`^\S+(?: \S+)* (?:build|check|test|clippy|run|compile\w*|assemble\w*)$`)

	// everyTest matches commands that, given nothing more, run all tests of a package of Node, and
	// nodeTest what runs some of them.
	everyTest = lazyregexp.New(`^(?:(?:npm|pnpm|yarn|bun)(?: run)? test|jest|vitest run)$`)
	nodeTest  = lazyregexp.New(`^(?:npm|pnpm|yarn|bun|jest|vitest|mocha|node)\b`)
)

// IsFlag reports whether a word is a flag, or sets a variable as those of make do.
func IsFlag(word string) bool {
	return strings.HasPrefix(word, "-") || setsVariable().MatchString(word)
}

var setsVariable = lazyregexp.New(`^[A-Z_]+=`)

// Plain returns the words that are not flags.
func Plain(words []string) []string { return slices.DeleteFunc(slices.Clone(words), IsFlag) }
