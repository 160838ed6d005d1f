package tapetext

import (
	"strings"

	"github.com/acptap/acptap/record/redact"
)

// programInLine names the program that a shell command runs: the one after exec or,
// failing that, the last one, ignoring builtins and programs that only read from a pipe.
// args are $0 and the following arguments.
func programInLine(line string, args []string, depth int) string {
	found := ""
	for _, words := range shellCommands(line) {
		words = expanded(unredirected(words), args)
		for len(words) > 0 && redact.IsAssignment(words[0]) {
			words = words[1:]
		}
		if len(words) == 0 || among(builtins, words[0]) || len(words) == 1 && words[0] == "exec" { // a bare exec redirects
			continue
		}
		if name := programIn(words, depth+1); name != "" {
			found = name
		}
		if words[0] == "exec" {
			break
		}
	}
	return found
}

// builtins are the shell's own commands that may precede an agent.
const builtins = `cd pushd popd export unset set . source : true test [ [[ ] echo printf umask ulimit trap wait exit read eval alias shopt if then else elif fi while do done { } ( )`

// unredirected removes redirections, such as 2>&1 and > FILE.
func unredirected(words []string) []string {
	var rest []string
	for i := 0; i < len(words); i++ {
		target := strings.TrimLeft(words[i], "0123456789&")
		switch {
		case !strings.HasPrefix(target, "<") && !strings.HasPrefix(target, ">"):
			rest = append(rest, words[i])
		case strings.Trim(target, "<>&|") == "":
			i++ // the file follows
		}
	}
	return rest
}

// expanded replaces a shell's parameters with its arguments.
func expanded(words, args []string) []string {
	var all []string
	for _, w := range words {
		switch {
		case w == "$0" && len(args) > 0:
			all = append(all, args[0])
		case (w == "$@" || w == "$*") && len(args) > 0:
			all = append(all, args[1:]...)
		case w == "$1" && len(args) > 1:
			all = append(all, args[1])
		default:
			all = append(all, w)
		}
	}
	return all
}

// shellCommands returns the words of each command in a line, without those that read from
// a pipe.
func shellCommands(line string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	inWord, piped := false, false
	var quote byte // the open quote; 0: none
	endWord := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && strings.IndexByte("\\\"'$ ", next) > 0: // in paths of Windows it is none
			word.WriteByte(next)
			inWord = true
			i++
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t':
			endWord()
		case c == ';' || c == '\n' || c == '|' || c == '&' && !strings.HasSuffix(word.String(), ">"):
			endWord()
			if !piped {
				commands = append(commands, words)
			}
			words, piped = nil, c == '|' && next != '|'
			if next == c {
				i++
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endWord()
	if !piped {
		commands = append(commands, words)
	}
	return commands
}
