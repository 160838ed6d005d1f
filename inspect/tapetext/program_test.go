package tapetext_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// TestProgram names what a command line runs, and nothing that may be secret.
func TestProgram(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"", ""},
		{"my-agent --token SECRET", "my-agent"},
		{"/opt/agents/bin/gemini --acp", "gemini"},
		{`C:\Tools\Agent.EXE|--acp`, "Agent"},
		{"go", "go"},

		{"env API_KEY=SECRET my-agent --acp", "my-agent"},
		{"/usr/bin/env -i -u HOME -C /w --chdir=/v A=SECRET B= my-agent", "my-agent"},
		{"env -S|A=SECRET my-agent --acp", "my-agent"},
		{"env|-SA=SECRET", "env"},
		{"env -- A=SECRET my-agent", "my-agent"},
		{"env A=SECRET", "env"},
		{"A=SECRET my-agent", "my-agent"},
		{"sudo -u bob -E A=SECRET env B=SECRET nice -n 5 nohup my-agent", "my-agent"},
		{"timeout -k 5 --signal=KILL 30s stdbuf -oL -e 0 setsid -w my-agent 9", "my-agent"},
		{"time -p nice -10 my-agent", "my-agent"},

		{"sh -c|exec my-agent --token SECRET", "my-agent"},
		{"sh -c|exec 3>&1; my-agent", "my-agent"},
		{"sh -c|2>/tmp/x.log my-agent", "my-agent"},
		{"sh -c|my-agent --acp 2>> /tmp/x.log < /dev/stdin", "my-agent"},
		{"sh -c|&> /tmp/x.log my-agent", "my-agent"},
		{"bash -lc|cd /w && A=SECRET exec my-agent", "my-agent"},
		{"bash|-l|-c|source ~/.nvm/nvm.sh; export K=SECRET; npx -y @scope/my-agent@1.2.3 --acp 2>&1", "my-agent"},
		{"sh|-c|my-agent --acp | tee /tmp/log", "my-agent"},
		{"sh|-c|my-agent --acp 2>&1", "my-agent"},
		{"sh|-c|'/opt/my agent/bin/agent one' --acp", "agent one"},
		{`sh|-c|exec "$@"|sh|my-agent|--token|SECRET`, "my-agent"},
		{`sh|-c|exec "$0" "$@"|my-agent|SECRET`, "my-agent"},
		{"sh|-c|echo SECRET", "sh"},
		{"bash -e /w/my-agent.sh SECRET", "my-agent.sh"},
		{"cmd /c npx -y my-agent", "my-agent"},
		{"cmd.exe|/d|/s|/c|npx -y my-agent", "my-agent"},
		{`C:\Windows\System32\cmd.exe|/C|C:\Program Files\My\agent.cmd`, "Program"}, // nobody quoted it
		{`cmd|/c|"C:\Program Files\My\agent.cmd" --acp`, "agent"},
		{"pwsh|-NoProfile|-Command|my-agent --acp", "my-agent"},
		{"ssh -p 22 -i key bob@box my-agent --token SECRET", "my-agent"},
		{"wsl -d Ubuntu -- my-agent", "my-agent"},

		{"npx -y @scope/my-agent@latest --token SECRET", "my-agent"},
		{"npx --yes --package=@scope/x -p y my-agent", "my-agent"},
		{"npx --registry https://u:SECRET@host/ my-agent", "my-agent"},
		{"npx --npm-token SECRET my-agent", "my-agent"},
		{"npx -c|my-agent --acp", "my-agent"},
		{`C:\Program Files\nodejs\npx.cmd|-y|my-agent`, "my-agent"},
		{"npx https://user:SECRET@host", "host"},
		{"npx https://user:SECRET@host/my-agent.tgz?t=SECRET", "my-agent.tgz"},
		{"npm exec --yes -- my-agent@1", "my-agent"},
		{"npm --prefix /w x my-agent", "my-agent"},
		{"pnpm dlx my-agent", "my-agent"},
		{"yarn dlx -p x my-agent", "my-agent"},
		{"bunx my-agent", "my-agent"},
		{"bun x my-agent", "my-agent"},
		{"uvx my-agent@1.0 SECRET", "my-agent"},
		{"uvx --from git+https://u:SECRET@host/x.git --with y my-agent", "my-agent"},
		{"uvx git+https://u:SECRET@host/my-agent.git@main", "my-agent"},
		{"uvx my-agent[acp]==1.2", "my-agent"},
		{"uv tool run --python 3.12 my-agent", "my-agent"},
		{"uv --directory /w run --extra a my_agent.py", "my_agent.py"},
		{"uv run python -m my_agent.acp", "my_agent.acp"},
		{"uv run -m my_agent", "my_agent"},
		{"pipx run --spec x my-agent", "my-agent"},
		{"poetry -C /w run my-agent", "my-agent"},

		{"node my-agent.js SECRET", "my-agent.js"},
		{"/usr/local/bin/node --inspect -r x --env-file=.env /w/my-agent.mjs", "my-agent.mjs"},
		{"node /w/my-agent/dist/index.js", "my-agent"},
		{"node /x/node_modules/@scope/my-agent/dist/cli.mjs", "my-agent"},
		{`node|C:\x\node_modules\my-agent\index.js`, "my-agent"},
		{"node -e SECRET", "node"},
		{"tsx src/my-agent.ts", "my-agent.ts"},
		{"bun run my-agent.ts", "my-agent.ts"},
		{"bun my-agent.ts", "my-agent.ts"},
		{"deno run -A --allow-env=SECRET --config deno.json /w/my-agent.ts", "my-agent.ts"},
		{"deno run -A npm:@scope/my-agent@1.0", "my-agent"},
		{"deno run https://u:SECRET@host/my-agent.ts?token=SECRET", "my-agent.ts"},
		{"python3.12 -u -m my_agent --token SECRET", "my_agent"},
		{"python -um my_agent.__main__", "my_agent"},
		{"/w/.venv/bin/python -W ignore /w/my_agent/main.py", "my_agent"},
		{"python -c SECRET", "python"},
		{"java -cp a:b -Dkey=SECRET -jar /w/my-agent.jar", "my-agent.jar"},
		{"java -cp a com.example.Agent", "com.example.Agent"},
		{"dotnet /w/my-agent.dll", "my-agent.dll"},
		{"dotnet run --project src/MyAgent", "MyAgent"},
		{"ruby -I lib my-agent.rb", "my-agent.rb"},

		{"docker run -i --rm -e KEY=SECRET --env TOKEN -v /w:/w ghcr.io/scope/my-agent:1.2 SECRET", "my-agent"},
		{"podman run host:5000/my-agent@sha256:abc", "my-agent"},
		{"docker exec -i -e K=SECRET box my-agent --acp", "my-agent"},
		{"docker run -i", "docker"},
		{"docker compose run --rm my-agent SECRET", "my-agent"},
		{"go run ./cmd/my-agent SECRET", "my-agent"},
		{"go run -tags x example.com/my-agent@latest", "my-agent"},
		{"go run .", "go"},
		{"cargo run -q --bin my-agent -- --acp", "my-agent"},
		{"nix run nixpkgs#my-agent -- --acp", "my-agent"},
		{"nix run github:owner/my-agent", "my-agent"},
		{"nix develop -c my-agent", "my-agent"},
		{"mise x node@22 -- npx my-agent", "my-agent"},
		{"direnv exec /w my-agent", "my-agent"},
		{"op run --env-file=.env -- my-agent", "my-agent"},
		{"acptap proxy --name x -- env A=SECRET my-agent", "my-agent"},
		{strings.Repeat("nohup ", 100) + "SECRET", "nohup"},
	} {
		cut := " " // between arguments; | where these hold blanks
		if strings.Contains(tt.command, "|") {
			cut = "|"
		}
		command := strings.Split(tt.command, cut)
		if first, rest, ok := strings.Cut(command[0], " "); ok && cut == "|" && !strings.Contains(first, `\`) {
			command = append(append([]string{first}, strings.Split(rest, " ")...), command[1:]...)
		}
		got := tapetext.AgentName(record.Info{Start: record.Start{Command: command}})
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", command, got, tt.want)
		}
	}
}

// TestAgentName prefers what the user calls an agent, and then what it calls
// itself.
func TestAgentName(t *testing.T) {
	command := []string{"env", "KEY=SECRET", "my-agent"}
	for _, tt := range []struct {
		start record.Start
		conn  dialect.Connection
		want  string
	}{
		{record.Start{Command: command, Name: "mine"}, dialect.Connection{Agent: "a", AgentTitle: "A B", AgentVersion: "1"}, "mine"},
		{record.Start{Command: command}, dialect.Connection{Agent: "a", AgentTitle: "A B", AgentVersion: "1"}, "A B 1"},
		{record.Start{Command: command}, dialect.Connection{Agent: "a", AgentTitle: "A"}, "A"},
		{record.Start{Command: command}, dialect.Connection{AgentTitle: "A B"}, "A B"},
		{record.Start{Command: command}, dialect.Connection{Agent: "a", AgentVersion: "1"}, "a 1"},
		{record.Start{Command: command}, dialect.Connection{}, "my-agent"},
	} {
		if got := tapetext.AgentName(record.Info{Start: tt.start, Connection: tt.conn}); got != tt.want {
			t.Errorf("%+v, %+v: got %q, want %q", tt.start, tt.conn, got, tt.want)
		}
	}
}

// TestPeer: a long name is cut, its version is not.
func TestPeer(t *testing.T) {
	for _, tt := range []struct{ title, name, version, want string }{
		{"Claude Agent", "@agentclientprotocol/claude-agent-acp", "0.100.0", "Claude Agent 0.100.0"},
		{"", "@agentclientprotocol/claude-agent-acp", "0.100.0", "@agentclien… 0.100.0"},
		{"", "zed", "", "zed"},
		{"", "a", "0.100.0-nightly.20261128+abcdef", "a 0.100.0-nig…"},
		{"", "", "", ""},
	} {
		if got := tapetext.Peer(tt.title, tt.name, tt.version, 20); got != tt.want {
			t.Errorf("%q %q %q: got %q, want %q", tt.title, tt.name, tt.version, got, tt.want)
		}
	}
}
