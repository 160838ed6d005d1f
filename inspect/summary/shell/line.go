// Package shell reads the command lines that agents run, as far as it takes to tell what a command does,
// and whether a later one does again what an earlier one was to do. It splits words at blanks.
package shell

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// A Line is a command line. The zero value is none.
type Line struct {
	Words []string // without a prompt, a shell that runs it, a change of directory, and variables set first
	Piped bool     // its exit status may be that of another command behind a pipe

	sets    []string // the variables set first
	runs    []run    // its commands after the last semicolon, which decide its exit status
	guarded bool     // its exit status may be that of another command after ||
}

// Parse reads a command line, which may be the title of a tool call.
func Parse(text string) (l Line) {
	text = quotedText().ReplaceAllStringFunc(text, func(quoted string) string { return noMarks.Replace(quoted) })
	l.Words, l.sets = wordsOf(text)
	l.guarded = strings.Contains(text, "||")
	l.Piped = strings.Contains(strings.ReplaceAll(text, "||", ""), "|")
	last := text[strings.LastIndexByte(text, ';')+1:]
	if end := strings.TrimSpace(last); end == "" || slices.Contains(keywords, end) {
		last = text
	}
	for _, one := range chainMark().Split(last, -1) {
		one, _, _ = strings.Cut(one, " | ")
		words, _ := wordsOf(one)
		for len(words) > 0 && slices.Contains(leads, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && !slices.Contains(keywords, words[0]) {
			l.runs = append(l.runs, parseRun(words))
		}
	}
	return l
}

var (
	// quotedText matches text in quotes, in which noMarks replaces what would stand between commands.
	quotedText = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	noMarks    = strings.NewReplacer(";", "·", "&", "·", "|", "·", "\n", " ")

	// leads are words of a shell before a command, and keywords those that are no command that tells
	// something.
	leads    = []string{"do", "then", "else", "{", "("}
	keywords = []string{"cd", "for", "while", "if", "case", "done", "fi", "esac", "}", ")"}
)

// chainMark matches what stands between the commands of a chain.
var chainMark = lazyregexp.New(`\s*(?:&&|;)\s*`)

// wordsOf returns the words of a command, and the variables set before it.
func wordsOf(text string) (words, sets []string) {
	text = substitution().ReplaceAllString(text, "…")
	words = strings.Fields(strings.NewReplacer("`", "", `"`, "", "'", "").Replace(text))
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
		case slices.Contains([]string{"sh", "bash", "zsh"}, base(word)) && len(words) > 2 && IsFlag(words[1]) && strings.HasSuffix(words[1], "c"):
			words = words[2:]
		default:
			words[0] = base(word)
			return words, sets
		}
	}
	return words, sets
}

// substitution matches the output of a command among the words of another one.
var substitution = lazyregexp.New(`\$\([^()]*\)`)

// base returns a program without its directory.
func base(program string) string {
	if name := program[strings.LastIndexByte(program, '/')+1:]; name != "" {
		return name
	}
	return program
}

// last returns the command whose exit status is that of the line; nil: there is none.
func (l *Line) last() *run {
	if len(l.runs) == 0 {
		return nil
	}
	return &l.runs[len(l.runs)-1]
}

// First returns the program that the line runs first. It is empty if there is none.
func (l *Line) First() string {
	if len(l.runs) == 0 {
		return ""
	}
	return l.runs[0].words[0]
}

// Guarded reports whether the exit status may be that of another command after ||.
func (l *Line) Guarded() bool { return l.guarded }

// work returns the commands of the chain that do the work: those that build or test something, or else
// the last one.
func (l *Line) work() []run {
	list := slices.DeleteFunc(slices.Clone(l.runs), func(r run) bool { return !r.works() })
	if len(list) == 0 && len(l.runs) > 0 {
		list = l.runs[len(l.runs)-1:]
	}
	return list
}

// Work returns the commands of the chain that do the work, and the same without flags. Both are empty if
// the line only shows something or is a single word.
func (l *Line) Work() (command, plain string) {
	var commands, plains []string
	for _, one := range l.work() {
		commands = append(commands, strings.Join(one.words, " "))
		plains = append(plains, strings.Join(slices.DeleteFunc(Plain(one.words), func(word string) bool { return strings.ContainsAny(word, "<>") }), " "))
	}
	if plain = strings.Join(plains, " && "); l.Shows() || !strings.Contains(plain, " ") {
		return "", ""
	}
	return strings.Join(commands, " && "), plain
}

// Name returns the programs and subcommands that do the work, such as "cmake && ctest". It is empty if
// there are none.
func (l *Line) Name() string {
	var names []string
	for _, one := range l.work() {
		names = append(names, one.name)
	}
	return strings.Join(names, " && ")
}

// Tests reports whether the exit status tells whether tests passed.
func (l *Line) Tests() bool { return l.last() != nil && l.last().tests() }

// Compiles reports whether the exit status tells only whether something compiles.
func (l *Line) Compiles() bool { return l.last() != nil && compiling().MatchString(l.last().name) }

// Shows reports whether the line only shows what there is, or what others have said.
func (l *Line) Shows() bool {
	return l.last() != nil && showing().MatchString(strings.Join(l.last().words, " "))
}

// Reads reports whether the line only shows something or reads from a database.
func (l *Line) Reads() bool { return l.Shows() || queries().MatchString(strings.Join(l.Words, " ")) }

var (
	// showing matches commands that only show something: programs that do nothing else, and subcommands
	// of others, perhaps after flags.
	showing = lazyregexp.New(`^(?:awk|bat|cat|echo|grep|head|jq|journalctl|less|ls|printf|rg|sed (?:-[^i]\S* )*[^-]|tail)\b|^(?:kubectl|oc)(?: -\S+(?: \S+)?)* (?:get|describe|logs|top|events)\b|` +
		`^\S+(?: -\S+(?: [^-\s]\S*)??)*(?: \S+)?? (?:list|ls|show|status|describe|logs?|diff|images|inspect|ps|view|version|help|heads|current|history|info|tree|why|outdated|search|--version|--help)(?: |$)`)

	// queries matches commands that only read from a database.
	queries = lazyregexp.New(`^(?:psql|mysql|sqlite3) .*\b(?i:select|explain)\b`)
)

// TimesOut reports whether the line sets a timeout for its last command (GNU coreutils).
func (l *Line) TimesOut() bool { return l.last() != nil && l.last().words[0] == "timeout" }

// SaysNo reports whether a command line, or the title of its call, exits with 1 when it has found nothing
// or a difference, or is to fail.
func SaysNo(text string) bool {
	if toFail().MatchString(text) || audits().MatchString(text) {
		return true
	}
	words, _ := wordsOf(text)
	for i := len(words) - 1; i >= 0; i-- {
		if slices.Contains([]string{"|", "&&", "||", ";"}, words[i]) {
			words = words[i+1:]
			break
		}
	}
	return len(words) > 0 && slices.Contains([]string{"grep", "rg", "diff", "cmp", "test", "[", "which"}, words[0])
}

var (
	// audits matches commands that exit with 1 if there is something to tell.
	audits = lazyregexp.New(`\b(?:npm|pnpm|yarn) (?:audit(?: --?[\w=-]+)*$|outdated)`)
	// toFail matches titles of calls that are right if they fail.
	toFail = lazyregexp.New(`(?i)\b(?:is|are|gets?|be) (?:refused|rejected|denied|blocked)\b|\b(?:should|must|to) fail\b|\bexpect(?:ed|s|ing)? (?:a |the |to see )?(?:failure|error)\b`)
)
