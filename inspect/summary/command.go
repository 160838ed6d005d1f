package summary

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A command is the words of a command line, and of each command of its chain.
type command struct {
	words []string
	chain [][]string
	sets  []string // the variables set before them

	piped, guarded bool // its exit status may be that of another command: behind a pipe, or after ||
}

// parseCommand returns the command in a title.
func parseCommand(title string) (c command) {
	c.words, c.sets = commandOf(title)
	c.guarded = strings.Contains(title, "||")
	c.piped = strings.Contains(strings.ReplaceAll(title, "||", ""), "|")
	last := title[strings.LastIndexByte(title, ';')+1:] // the exit status is that of the commands behind it
	if strings.TrimSpace(last) == "" {
		last = title
	}
	for _, one := range chainMark.Split(last, -1) {
		one, _, _ = strings.Cut(one, " | ")
		if words, _ := commandOf(one); len(words) > 0 && words[0] != "cd" {
			c.chain = append(c.chain, words)
		}
	}
	return c
}

// run returns the command of a chain that does the work, and what it is without flags, if it takes more
// than a word to tell that: the first that builds or tests something, or else the last.
func (c *command) run() (words, of string) {
	if len(c.chain) == 0 {
		return "", ""
	}
	i := slices.IndexFunc(c.chain, func(one []string) bool {
		return !slices.Contains(preparing, one[0]) && (len(one) < 2 || one[1] != "clean") && slices.ContainsFunc(one[:min(len(one), 2)], working.MatchString)
	})
	if i < 0 {
		i = len(c.chain) - 1
	}
	plain := slices.DeleteFunc(plainWords(c.chain[i]), func(word string) bool { return strings.ContainsAny(word, "<>") })
	if len(plain) < 2 || c.shows() {
		return "", ""
	}
	return strings.Join(c.chain[i], " "), strings.Join(plain, " ")
}

// working matches a word of a command that builds or tests something.
var working = regexp.MustCompile(`(?i)build|test|check|make|compile|install|lint`)

// preparing are the programs that come before the work.
var preparing = []string{"mkdir", "rm", "cp", "mv", "export", "source", "git"}

// isRetry reports whether a later command is an earlier one again, apart from flags and from
// what a shell is told first: cargo test -p x after cargo test. Both must begin with the same
// program and the same subcommand. If flags come first, the other words must be the same.
func isRetry(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || a[0] != b[0] || isFlag(a[0]) {
		return false
	}
	if len(a) == 1 || isFlag(a[1]) || isFlag(b[1]) {
		words := plainWords(a)
		return slices.Equal(words, plainWords(b)) && (len(words) > 1 || isTestRunner(words[0]) || len(a) > 1 && slices.Equal(a, b))
	}
	if a[1] != b[1] {
		return false
	}
	for i, word := range b {
		for len(a) > 0 && a[0] != word && isFlag(a[0]) {
			a = a[1:]
		}
		switch {
		case len(a) > 0 && a[0] == word:
			a = a[1:]
		case isFlag(word), isFlag(b[i-1]): // or the value of one
		default:
			return false
		}
	}
	return len(a) == 0
}

// adds reports whether a later command has more words than an earlier one besides flags, or a flag that
// leaves something out: it may do only a part of it.
func adds(before, after []string) bool {
	return len(plainWords(after)) > len(plainWords(before)) || slices.ContainsFunc(after, func(word string) bool {
		return leavesOut.MatchString(word) && !slices.Contains(before, word)
	})
}

// narrows reports whether a later command runs only some of the tests of an earlier one, or leaves
// something else out.
func narrows(before, after []string) bool {
	return slices.ContainsFunc(before, isTestRunner) && len(plainWords(after)) > len(plainWords(before)) || slices.ContainsFunc(after, func(word string) bool {
		i := slices.Index(before, word)
		next := slices.Index(after, word) + 1
		return leavesOut.MatchString(word) && (i < 0 || next < len(after) && !slices.Contains(before, after[next]))
	})
}

// tests reports whether a command runs tests.
func (c *command) tests() bool {
	return len(c.chain) > 0 && slices.ContainsFunc(c.chain[len(c.chain)-1], func(word string) bool { return testWord.MatchString(word) || isTestRunner(word) && word != "build" })
}

// leavesOut matches flags by which a command does only a part of its work.
var leavesOut = regexp.MustCompile(`^--(?:path|only|limit|skip|disable|exclude|ignore|filter|without|no-verify)`)

// alikeWords reports whether two commands run the same program and subcommand, or the same program with
// at least half of the words.
func alikeWords(a, b []string) bool {
	if sameProgram(a, b) {
		return true
	}
	common := 0
	for _, word := range a {
		if slices.Contains(b, word) {
			common++
		}
	}
	return len(a) > 2 && len(b) > 0 && a[0] == b[0] && common*2 > len(a)
}

// plainWords returns the words that are not flags.
func plainWords(words []string) (plain []string) {
	for _, word := range words {
		if !isFlag(word) {
			plain = append(plain, word)
		}
	}
	return plain
}

// sameProgram reports whether two commands begin with the same program and subcommand; of
// programs that run others, with the same of those. If flags come first, both run tests.
func sameProgram(a, b []string) bool {
	if min(len(a), len(b)) > 1 && a[0] == b[0] && isFlag(a[1]) && isFlag(b[1]) {
		return slices.ContainsFunc(a, isTestRunner) && slices.ContainsFunc(b, isTestRunner)
	}
	n := 2
	for i := range min(len(a), len(b)) {
		switch a[i] {
		case "run", "exec", "-m":
			n = i + 3
		case "artisan", "compose", "manage.py":
			n = i + 2
		}
		switch {
		case i == n:
			return true
		case a[i] != b[i], isFlag(a[i]) && a[i] != "-m":
			return false
		}
	}
	return len(a) >= n && len(b) >= n
}

// isFlag reports whether a word is a flag, or sets a variable as those of make do.
func isFlag(word string) bool { return strings.HasPrefix(word, "-") || setsVariable.MatchString(word) }

var setsVariable = regexp.MustCompile(`^[A-Z_]+=`)

// commandOf returns the words of a command line, without a prompt, the tool's name, a shell that runs it, a
// change of directory and the variables set before it.
func commandOf(line string) (words, sets []string) {
	line = substitution.ReplaceAllString(line, "…")
	words = strings.Fields(strings.NewReplacer("`", "", `"`, "", "'", "").Replace(line))
	for len(words) > 0 {
		switch word := words[0]; {
		case strings.Contains(word, "=") && !strings.HasPrefix(word, "-"):
			sets, words = append(sets, word), words[1:]
		case word == "$", word == "env", word == "export", strings.HasSuffix(word, ":"):
			words = words[1:]
		case word == "cd":
			end := slices.Index(words, "&&")
			if end < 0 {
				return words, sets
			}
			words = words[end+1:]
		case slices.Contains([]string{"sh", "bash", "zsh"}, word[strings.LastIndexByte(word, '/')+1:]) && len(words) > 2 && isFlag(words[1]) && strings.HasSuffix(words[1], "c"):
			words = words[2:]
		default:
			words[0] = word[strings.LastIndexByte(word, '/')+1:] // whatever its directory
			return words, sets
		}
	}
	return words, sets
}

// substitution matches the output of a command among the words of another one.
var substitution = regexp.MustCompile(`\$\([^()]*\)`)

// tells reports whether a later command's exit status can be that of an earlier one again: not if
// it may be that of another command, unless that was so for the earlier one, too.
func tells(before, after *command) bool {
	return len(before.chain) > 0 && len(after.chain) > 0 && (!after.piped || before.piped) && (!after.guarded || before.guarded)
}

// resembles reports whether a later command runs the program that an earlier one ran last.
func resembles(before, after *command) bool {
	last := before.chain[len(before.chain)-1]
	return slices.ContainsFunc(after.chain, func(one []string) bool { return alikeWords(last, one) })
}

// twin returns the last command of a chain and the one of a later chain that runs the same program; -1:
// there is none.
func twin(before, after *command) (last []string, at int) {
	if len(before.chain) == 0 {
		return nil, -1
	}
	last = before.chain[len(before.chain)-1]
	return last, slices.IndexFunc(after.chain, func(one []string) bool { return isRetry(last, one) || alikeWords(last, one) })
}

// extra returns the variables and the words that a later command has and the earlier one, which runs the
// same program, has not.
func extra(before, after *command) string {
	last, at := twin(before, after)
	if at < 0 || commits(last) {
		return ""
	}
	return strings.Join(lacking(slices.Concat(after.sets, after.chain[at]), slices.Concat(before.sets, last)), " ")
}

// differs says with which words a later command differs from the earlier one: those that it has besides
// or, if there are none, the flags that it lacks.
func differs(before, after *command) string {
	if more := extra(before, after); more != "" {
		return "with " + more
	}
	last, at := twin(before, after)
	if at < 0 || commits(last) {
		return ""
	}
	less := slices.DeleteFunc(lacking(last, after.chain[at]), func(word string) bool { return !strings.HasPrefix(word, "--") || leavesOut.MatchString(word) })
	return termtext.Labelled("without", strings.Join(less, " "))
}

// lacking returns the words that others do not have, but for those that matter little.
func lacking(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return slices.Contains(others, word) || strings.ContainsAny(word, "<>|") || talks.MatchString(word)
	})
}

// first returns the commands of a later chain that come before the one that runs the same program, and
// that the earlier chain does not have.
func first(before, after *command) (list []string) {
	_, at := twin(before, after)
	for _, one := range after.chain[:max(at, 0)] {
		if !slices.ContainsFunc(before.chain, func(other []string) bool { return slices.Equal(one, other) }) && !slices.Contains(preparing, one[0]) {
			list = append(list, strings.Join(one, " "))
		}
	}
	return list
}

// talks matches flags that only change what a command prints, or how fast it is.
var talks = regexp.MustCompile(`^-(?:[sqvx]+|j\d*|-(?:nocapture|verbose|quiet|silent|no-colou?r|colou?r.*|tb.*|jobs.*|summary))$|^always$|^all$`)

// includes reports whether a later command does what an earlier one was to do: the last one of
// its chain, with another message if it is a commit, or all tests after some of them.
func includes(before, after *command) bool {
	a, b := before.chain, after.chain
	if !tells(before, after) {
		return false
	}
	if len(a) == 1 && len(b) == 1 {
		return runsAll(a[0], b[0])
	}
	last := a[len(a)-1]
	return slices.ContainsFunc(b, func(one []string) bool {
		return slices.Equal(last, one) || isRetry(last, one) && !adds(last, one) || commits(last) && commits(one)
	})
}

// compiles reports whether a later command can only have succeeded if what an earlier one was to
// compile compiles now: tests of the same program after a build.
func compiles(before, after *command) bool {
	if !tells(before, after) {
		return false
	}
	last := plainWords(before.chain[len(before.chain)-1])
	if len(last) < 2 || !compiling.MatchString(last[0]+" "+last[1]) {
		return false
	}
	return slices.ContainsFunc(after.chain, func(one []string) bool {
		one = plainWords(one)
		return len(one) > 1 && one[0] == last[0] && buildsToo.MatchString(one[1]) &&
			(strings.HasPrefix(last[1], "compile") || !slices.ContainsFunc(last[2:], func(word string) bool { return !slices.Contains(one, word) }))
	})
}

var (
	// compiling matches commands that only compile.
	compiling = regexp.MustCompile(`^(?:cargo (?:build|check)|dotnet restore|(?:go|swift|bazel|dotnet|cabal|stack|zig) build|mvnw? compile|\S*gradlew? (?:compile|assemble)\w*)$`)
	// buildsToo matches subcommands that compile first.
	buildsToo = regexp.MustCompile(`^(?:build|check|test|clippy|run|compile\w*|assemble\w*)$`)
)

// testsAll reports whether a later command runs all tests, whatever program ran some of them before:
// ctest, or the tests of a package of Node.
func testsAll(before, after *command) bool {
	if !tells(before, after) {
		return false
	}
	last := before.chain[len(before.chain)-1]
	return slices.ContainsFunc(last, testWord.MatchString) && slices.ContainsFunc(after.chain, func(one []string) bool {
		switch words := strings.Join(one, " "); {
		case nodeTests.MatchString(words):
			return slices.Contains(nodePrograms, last[0])
		default:
			return one[0] == "ctest" && !slices.Contains(one, "-R") && !slices.Contains(one, "-L")
		}
	})
}

var (
	// testWord matches the word of a command that runs tests, as a program or a target.
	testWord = regexp.MustCompile(`(?i)(?:^|[/_:-])c?tests?(?:$|[/_:.-])|^(?:jest|vitest|mocha)$`)
	// nodeTests matches a command that runs all tests of a package of Node.
	nodeTests = regexp.MustCompile(`^(?:npm|pnpm|yarn|bun)(?: run)? test$|^(?:npx )?(?:jest|vitest run)$`)
	// nodePrograms run what such packages have.
	nodePrograms = []string{"npm", "npx", "pnpm", "yarn", "bun", "jest", "vitest", "mocha", "node"}
)

// commits reports whether a command makes a commit.
func commits(words []string) bool { return len(words) > 1 && words[0] == "git" && words[1] == "commit" }

// chainMark matches what stands between the commands of a chain.
var chainMark = regexp.MustCompile(`\s*(?:&&|;)\s*`)

// runsAll reports whether a command runs all tests, or builds all, of which an earlier one took
// some: without the paths that it named, or with directories that hold them.
func runsAll(some, all []string) bool {
	words := func(list []string) (kept, paths []string) {
		for i, word := range list {
			switch {
			case isFlag(word):
				if strings.ContainsAny(word, "/:") || strings.HasPrefix(word, "-Dtest") {
					paths = append(paths, word)
				}
			case word == "./...", word == "all":
			case i > 0 && strings.ContainsAny(word, "/.:"):
				paths = append(paths, word)
			default:
				kept = append(kept, word[strings.LastIndexByte(word, '/')+1:])
			}
		}
		return kept, paths
	}
	a, named := words(some)
	b, rest := words(all)
	held := func(path string) bool {
		return slices.ContainsFunc(rest, func(dir string) bool {
			return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
		})
	}
	return len(named) > 0 && (len(rest) == 0 || !slices.ContainsFunc(named, func(path string) bool { return !held(path) })) &&
		slices.Equal(a, b) && slices.ContainsFunc(a, isTestRunner)
}

func isTestRunner(word string) bool { return testRunner.MatchString(word) }

// testRunner matches the words of a command that runs tests, or builds.
var testRunner = regexp.MustCompile(`^(?:test|ctest|tests|pytest|vitest|jest|mocha|rspec|phpunit|nextest|build)$`)
