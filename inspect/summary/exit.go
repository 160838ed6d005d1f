package summary

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/wire"
)

// exitOf returns the exit status that an update of a tool call tells of its command.
func exitOf(update []byte) (code int64, ok bool) {
	for _, path := range [][]string{{"rawOutput", "exit_code"}, {"rawOutput", "exitCode"}, {"rawOutput", "metadata", "exit"}, {"_meta", "terminal_exit", "exit_code"}} {
		if v := wire.ValueOf(wire.Get(update, path...)); v.IsNumber() {
			return v.Int(), true
		}
	}
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		if m := exitLine.FindStringSubmatch(ending(wire.Text(wire.Get(block, "content", "text")))); m != nil {
			code, err := strconv.ParseInt(m[1], 10, 64)
			return code, err == nil
		}
	}
	return 0, false
}

// exitLine matches the line in which an agent tells the exit status of a command.
var exitLine = regexp.MustCompile(`(?mi)^<?(?:process )?(?:exit(?:ed with)?|command exited with) (?:exit )?(?:code|status):? (\d+)\.?>?$`)

// saysNo reports whether a command exits with 1 when it has found nothing, or a difference.
func saysNo(title string) bool {
	words := commandOf(title)
	for i := len(words) - 1; i >= 0; i-- {
		if slices.Contains([]string{"|", "&&", "||", ";"}, words[i]) {
			words = words[i+1:]
			break
		}
	}
	return len(words) > 0 && slices.Contains([]string{"grep", "rg", "diff", "cmp", "test", "[", "which", "git diff"}, words[0])
}
