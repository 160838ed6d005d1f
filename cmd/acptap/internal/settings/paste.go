package settings

import (
	"fmt"
	"strings"
)

// acptap does not write settings that are programs, or in a language whose parsers drop
// blanks and comments.

// lua returns lines for Neovim.
// Sources: https://codecompanion.olimorris.dev/configuration/adapters-acp and
// https://github.com/yetone/avante.nvim (acp_providers).
func lua(name string, words []string) string {
	return fmt.Sprintf(`-- CodeCompanion.nvim: extend the adapter of this agent, here claude_code
require("codecompanion").setup({
  adapters = {
    acp = {
      claude_code = function()
        return require("codecompanion.adapters").extend("claude_code", {
          commands = {
            default = { %[3]s },
          },
        })
      end,
    },
  },
})

-- avante.nvim
require("avante").setup({
  provider = %[1]s,
  acp_providers = {
    [%[1]s] = {
      command = %[2]s,
      args = { %[4]s },
    },
  },
})
`, quote(name), quote(words[0]), quoteAll(words), quoteAll(words[1:]))
}

// lisp returns lines for Emacs.
// Source: https://github.com/xenodium/agent-shell
func lisp(_ string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
	}
	return fmt.Sprintf(`;; agent-shell: each agent has a variable of its own, such as
;; agent-shell-google-gemini-acp-command
(setq agent-shell-anthropic-claude-acp-command
      '(%s))
`, strings.Join(quoted, " "))
}

// toml returns lines for Codex CLI.
// Source: https://developers.openai.com/codex/mcp
func toml(name string, words []string) string {
	return fmt.Sprintf(`# ~/.codex/config.toml
[mcp_servers.%s]
command = %s
args = [%s]
`, quote(name), quote(words[0]), quoteAll(words[1:]))
}

// byHand returns the lines to write into settings that acptap cannot read or write.
func (c *Client) byHand(w Wrapper, name string) string {
	words := append(w.Words(name), "THE COMMAND THAT IS THERE NOW")
	switch c.forms[0] {
	case commandList:
		return fmt.Sprintf(`"command": [%s, …]`, quoteAll(words))
	case argv:
		return fmt.Sprintf(`"argv": [%s, …]`, quoteAll(words))
	}
	return fmt.Sprintf("\"command\": %s,\n\"args\": [%s, …]", quote(words[0]), quoteAll(words[1:]))
}
