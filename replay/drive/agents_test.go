package drive_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// outcome tells stderr how a permission was answered, and whether it was given.
func outcome(answer wire.Value) bool {
	o := answer.Get("result.outcome")
	fmt.Fprintln(os.Stderr, strings.TrimSpace("outcome: "+o.Get("outcome").Text()+" "+o.Get("optionId").Text()))
	return o.Get("outcome").Text() == "selected" && o.Get("optionId").Text() != "n"
}

// cleaner MANNER: the agent of the tape cleaning.
func cleaner(args []string) {
	s, manner := replaytest.NewStdio(), args[0]
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			switch manner {
			case "silent":
			case "v2":
				s.Result(m, `{"protocolVersion":2,"info":{"name":"bot","version":"2"},"capabilities":{}}`)
			default:
				s.Result(m, `{"protocolVersion":1}`)
			}
		case "session/new":
			fmt.Fprintf(os.Stderr, "cwd: %s\n", m.Get("params.cwd").Text())
			if manner == "refuses" {
				s.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"log in"}}`, m.Get("id").Raw())
				continue
			}
			s.Result(m, `{"sessionId":"live-1"}`)
			s.Update(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
		case "session/prompt":
			cleanUp(s, manner, m)
		}
	}
}

func cleanUp(s *replaytest.Stdio, manner string, prompt wire.Value) {
	const call = `"toolCallId":"c-9","title":"rm /home/bob/elsewhere/tmp","kind":"delete","rawInput":{"path":"/home/bob/elsewhere/tmp"}`
	switch manner {
	case "hangs":
		time.Sleep(time.Minute)
	case "dies":
		os.Exit(7)
	case "fails":
		s.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, prompt.Get("id").Raw())
		return
	case "extension":
		fmt.Fprintln(os.Stderr, "error", s.Ask("_bot/feel", `{}`).Get("error.code"))
	}
	s.Update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm."}}`)
	options := `[{"optionId":"n","name":"No","kind":"reject_once"},{"optionId":"y","name":"Yes","kind":"allow_once"}]`
	patch := `{"toolCallId":"c-9"}`
	switch manner {
	case "options": // the id that was chosen on the tape is another option's now
		options = `[{"optionId":"y","name":"No","kind":"reject_once"},{"optionId":"allow-1","name":"Sure","kind":"allow_once"}]`
	case "always":
		options = `[{"optionId":"y","name":"Yes","kind":"allow_always"}]`
	case "other":
		patch = `{"toolCallId":"c-9","rawInput":{"path":"/"}}`
	}
	if manner == "first" {
		patch = `{` + call + `}`
	} else {
		s.Update(`{"sessionUpdate":"tool_call",` + call + `}`)
	}
	status := "completed"
	if manner != "unasked" {
		question := fmt.Sprintf(`{"sessionId":"live-1","toolCall":%s,"options":%s}`, patch, options)
		if !outcome(s.Ask("session/request_permission", question)) {
			status = "failed"
		}
		if manner == "twice" {
			outcome(s.Ask("session/request_permission", question))
		}
	}
	s.Update(`{"sessionUpdate":"tool_call_update","toolCallId":"c-9","status":"` + status + `","content":[{"type":"content","content":{"type":"text","text":"gone"}}]}`)
	chunks := []string{"All clean."}
	switch manner {
	case "chunks":
		chunks = strings.Split("All clean.", "")
	case "text":
		chunks = []string{"Done."}
	}
	for _, text := range chunks {
		s.Update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, text))
	}
	s.Update(`{"sessionUpdate":"usage_update","used":7,"size":100}`)
	s.Result(prompt, `{"stopReason":"end_turn"}`)
}

// moody MANNER: the agent of the tape interrupted.
func moody(args []string) {
	s, manner := replaytest.NewStdio(), args[0]
	modes := `,"modes":{"currentModeId":"ask","availableModes":[{"id":"code","name":"Code"},{"id":"ask","name":"Ask"}]}`
	switch manner {
	case "renamed":
		modes = `,"modes":{"currentModeId":"m-1","availableModes":[{"id":"m-1","name":"Ask"},{"id":"m-2","name":"Code"}]}`
	case "modeless":
		modes = ""
	}
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			s.Result(m, `{"protocolVersion":1}`)
		case "session/new":
			s.Result(m, `{"sessionId":"live-1"`+modes+`}`)
		case "session/set_mode":
			fmt.Fprintf(os.Stderr, "mode: %s; ", m.Get("params.modeId").Text())
			s.Result(m, `{}`)
		case "session/prompt":
			time.Sleep(50 * time.Millisecond) // a cancel would come too early
			s.Update(`{"sessionUpdate":"tool_call","toolCallId":"x1","title":"one"}`)
			time.Sleep(50 * time.Millisecond)
			s.Update(`{"sessionUpdate":"tool_call","toolCallId":"x2","title":"two"}`)
			fmt.Fprint(os.Stderr, "calls: 2; ")
			if manner == "quick" {
				s.Result(m, `{"stopReason":"end_turn"}`)
				continue
			}
			answer := s.Ask("session/request_permission", `{"sessionId":"live-1","toolCall":{"toolCallId":"x2"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}`)
			fmt.Fprintf(os.Stderr, "then %s; outcome: %s; ", s.Next().Get("method").Text(), answer.Get("result.outcome.outcome").Text())
			s.Result(m, `{"stopReason":"cancelled"}`)
		}
	}
}

// reader: reads, writes and runs more than the agent of filesAndTerminals.
func reader([]string) {
	s := replaytest.NewStdio()
	tell := func(what string, answer wire.Value, path string) {
		if code := answer.Get("error.code"); code.Exists() {
			fmt.Fprintf(os.Stderr, "%s: error %s\n", what, code.Raw())
			return
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", what, answer.Get(path).Raw())
	}
	read := func(what, path, part string) {
		tell("read "+what, s.Ask("fs/read_text_file", `{"sessionId":"live-1","path":"/tmp/project/now/`+path+`"`+part+`}`), "result.content")
	}
	write := func(path, text string) wire.Value {
		content, _ := json.Marshal(text)
		return s.Ask("fs/write_text_file", `{"sessionId":"live-1","path":"/tmp/project/now/`+path+`","content":`+string(content)+`}`)
	}
	run := func(what, command string) {
		tell(what, s.Ask("terminal/create", `{"sessionId":"live-1","cwd":"/tmp/project/now",`+command+`}`), "result.terminalId")
	}
	terminal := func(what, method, id, path string) {
		tell(what, s.Ask("terminal/"+method, `{"sessionId":"live-1","terminalId":"`+id+`"}`), path)
	}
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			s.Result(m, `{"protocolVersion":1}`)
		case "session/new":
			s.Result(m, `{"sessionId":"live-1"}`)
		case "session/prompt":
			fmt.Fprintf(os.Stderr, "prompt: %s\n", m.Get("params.prompt.0.text").Text())
			read("a.txt", "a.txt", "")
			read("a.txt again", "a.txt", "")
			read("line 2 of a.txt", "a.txt", `,"line":2,"limit":1`)
			read("line 5 of part.txt", "part.txt", `,"line":5,"limit":1`)
			read("part.txt", "part.txt", "")
			read("unknown.txt", "unknown.txt", "")
			tell("write b.txt", write("b.txt", "new"), "result")
			read("b.txt", "b.txt", "")
			tell("write unknown.txt", write("unknown.txt", ""), "result")
			write("a.txt", "eins\nzwei\n")
			read("line 2 of the new a.txt", "a.txt", `,"line":2`)
			run("run make test", `"command":"make","args":["test"]`)
			run("run it again", `"command":"make","args":["test"]`)
			for range 3 {
				terminal("output", "output", "term-1", "result.output")
			}
			terminal("wait", "wait_for_exit", "term-1", "result.exitCode")
			terminal("kill", "kill", "term-1", "result")
			terminal("output of another", "output", "term-9", "result.output")
			run("run rm", `"command":"rm","args":["-rf","/"]`)
			s.Result(m, `{"stopReason":"end_turn"}`)
		}
	}
}

// patient: an agent that remembers one session for good.
func patient([]string) {
	s := replaytest.NewStdio()
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			s.Result(m, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
		case "session/new":
			fmt.Fprint(os.Stderr, "new; ")
			s.Result(m, `{"sessionId":"live-1"}`)
		case "session/load":
			fmt.Fprintf(os.Stderr, "load %s; ", m.Get("params.sessionId").Text())
			s.Result(m, `{}`)
		case "session/prompt":
			fmt.Fprintf(os.Stderr, "prompt %s; ", m.Get("params.sessionId").Text())
			s.Update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`)
			s.Result(m, `{"stopReason":"end_turn"}`)
		}
	}
}
