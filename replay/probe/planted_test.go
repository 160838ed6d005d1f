package probe

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

var planted = flag.Bool("planted", false, "play all cases that a planted fault concerns")

// A plant is a peer that is made wrong by rules that change its traffic.
type plant struct {
	finds string // the case that has to find it, or the rule of conform if it is no matter of one case
	want  Outcome
	rules string
	in    dialect.Dialect // Unknown: ACP v1, or MCP
}

// TestPlantedFaults puts each fault into the good peer of every case that it concerns: one case
// finds it, and nothing else is held against the peer. Without -planted only some of the cases are
// played.
func TestPlantedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hundreds of cases")
	}
	t.Parallel()
	for _, tt := range []struct {
		name   string
		kind   Kind
		plants []plant
	}{
		{"agent", Agent, wrongAgents},
		{"server", Server, wrongServers},
		{"client", Client, wrongClients},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			goods := rehearseAll(t, tt.kind)
			places := make(chan struct{}, 24)
			for _, p := range tt.plants {
				t.Run(strings.ReplaceAll(p.finds, "/", ".")+" "+p.rules, func(t *testing.T) {
					t.Parallel()
					p.try(t, tt.kind, goods, places)
				})
			}
		})
	}
}

// A good is a case with a good peer, and the frames that pass between them.
type good struct {
	c      *Case
	x      Example
	d      dialect.Dialect
	frames [][]wire.Frame // of the first contact, and of the case
}

// rehearseAll plays all cases to their good peers.
func rehearseAll(t *testing.T, k Kind) []*good {
	cases, err := Cases(k)
	if err != nil {
		t.Fatal(err)
	}
	var goods []*good
	for _, c := range cases {
		for _, x := range c.Examples {
			if strings.HasPrefix(x.Name, "good") {
				goods = append(goods, &good{c: c, x: x})
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(24)
	for _, g := range goods {
		group.Go(func() error {
			res, store, err := g.play(t, k, nil)
			if err != nil {
				return err
			}
			if g.d = res.Results[0].Dialect; res.Results[0].Outcome > Told {
				return fmt.Errorf("%s: %v", g.c.ID, res.Results[0].Outcome)
			}
			tapes, err := store.Tapes()
			if err != nil {
				return err
			}
			for _, id := range tapes {
				tape, err := store.Open(id)
				if err != nil {
					return err
				}
				var frames []wire.Frame
				for f, err := range tape.Frames(1) {
					if err != nil {
						return err
					}
					f.Raw = slices.Clone(f.Raw)
					frames = append(frames, f.Frame)
				}
				g.frames = append(g.frames, frames)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return goods
}

// play plays the case to the good peer under rules; nil: none.
func (g *good) play(t *testing.T, k Kind, rules *rule.Set) (*Report, *record.Store, error) {
	store := record.OpenStore(t.TempDir())
	r, _, err := rehearsal(&Runner{Kind: k, Store: store, EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir()}, g.c, g.x)
	if err != nil {
		return nil, nil, err
	}
	r.Patience = 10 * time.Second
	if rules != nil && k == Client {
		r.scripted.between = func() []proxy.Interceptor { return rules.Chain(1) }
	} else if rules != nil {
		right := r.Peer
		r.Peer = func() *proxy.Peer { return behind(right(), rules) }
	}
	found, err := r.Run(t.Context())
	if len(found.Results) != 1 {
		return nil, nil, fmt.Errorf("%s: it was not played: %w", g.c.ID, err)
	}
	return found, store, nil
}

// behind returns a peer behind a proxy with rules.
func behind(p *proxy.Peer, rules *rule.Set) *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, errOut io.Writer) int {
		run := proxy.Proxy{Peer: p, In: in, Out: out, Err: errOut, Interceptors: rules.Chain(1), Patience: 100 * time.Millisecond}
		var exit *proxy.ExitError
		if errors.As(run.Run(ctx), &exit) {
			return exit.Code
		}
		return 0
	}}
}

// concerned reports whether the rules do anything in the case.
func (g *good) concerned(rules *rule.Set) bool {
	for _, frames := range g.frames {
		trial := rules.Try(1)
		for i := range frames {
			trial.Observe(&frames[i])
		}
		if slices.ContainsFunc(trial.Hits(), func(h rule.Hits) bool { return h.Count > 0 }) {
			return true
		}
	}
	return false
}

// try plays the cases that the fault concerns, each in one of the places.
func (p *plant) try(t *testing.T, k Kind, goods []*good, places chan struct{}) {
	rules, err := rule.Parse("planted", p.rules)
	if err != nil {
		t.Fatal(err)
	}
	concerned := slices.DeleteFunc(slices.Clone(goods), func(g *good) bool {
		return k == Agent && g.d != max(p.in, dialect.ACPv1) || !g.concerned(rules)
	})
	if !*planted {
		concerned = p.sample(concerned)
	}
	var group errgroup.Group
	results := make([]*Report, len(concerned))
	for i, g := range concerned {
		places <- struct{}{}
		group.Go(func() (err error) {
			defer func() { <-places }()
			results[i], _, err = g.play(t, k, rules)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	board := &Report{Kind: k}
	for _, one := range results {
		board.Results = append(board.Results, one.Results...)
	}
	board.group()
	found := false
	var blamed []string
	for _, group := range board.causes(func(*Result) bool { return true }) {
		var ids []string
		for _, res := range group {
			ids = append(ids, res.Case.ID)
			found = found || res.Case.ID == p.finds && res.Outcome == p.want
		}
		blamed = append(blamed, fmt.Sprintf("%v %s: %s", group[0].Outcome, strings.Join(ids, ", "), group[0].Says()))
	}
	for _, f := range board.Rest() {
		found = found || f.Rule.ID == p.finds
		blamed = append(blamed, fmt.Sprintf("%s %v: %s", f.Rule.ID, f.Cases, report.Said(&f.Finding.Finding)))
	}
	if !found || len(blamed) != 1 {
		t.Errorf("of %d cases, %s does not find it alone:\n%s", len(board.Results), p.finds, strings.Join(blamed, "\n"))
	}
}

// sample returns the cases of the one that has to find the fault, and a few others.
func (p *plant) sample(goods []*good) (few []*good) {
	const others = 8
	for i, g := range goods {
		if g.c.ID == p.finds || i%(len(goods)/others+1) == 0 {
			few = append(few, g)
		}
	}
	return few
}

// wrongAgents break one thing each.
var wrongAgents = []plant{
	{finds: "version/same", want: Broken, rules: `method:initialize kind:request .params.protocolVersion:>1 => answer {"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}
method:initialize kind:response .result.protocolVersion=1 => set result.protocolVersion "1"`},
	{finds: "version/bare", want: Broken, rules: `method:initialize kind:request !.params.clientCapabilities~. => error -32602 "no clientCapabilities"`},
	{finds: "version/unknown", want: Broken, rules: `method:initialize kind:request .params.protocolVersion=999 => error -32602 "unknown version"`},
	{finds: "version/unknown", want: Broken, rules: `method:initialize kind:request .params.protocolVersion=999 => answer {"protocolVersion":999,"agentCapabilities":{}}`},
	{finds: "version/v2", want: Broken, rules: `method:initialize kind:request .params.protocolVersion=2 => answer {"protocolVersion":2,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}`},
	{finds: "version/extra", want: Broken, rules: `method:initialize kind:request .params._meta~. => error -32602 "unknown member _meta"`},
	{finds: "wire/string-id", want: Broken, rules: `dir:a2c kind:response id:acptap => set id 1`},
	{finds: "wire/zero-id", want: Broken, rules: `dir:a2c kind:response id=0 => set id null`},
	{finds: "wire/large-id", want: Broken, rules: `dir:a2c kind:response id=9007199254740991 => set id 9007199254740992`},
	{finds: "wire/pieces", want: Broken, rules: `method:_acptap/pieces kind:request => drop`},
	{finds: "wire/together", want: Broken, rules: `method:_acptap/two kind:request => drop`},
	{finds: "wire/large", want: Broken, rules: `dir:c2a size:>1M => die`},
	{finds: "wire/stalls", want: Broken, rules: `method:_acptap/stalls kind:response => die [nth 1000]`},
	{finds: "unknown/extension", want: Broken, rules: `method:_acptap/* kind:request => die`},
	{finds: "unknown/extension", want: Broken, rules: `method:_acptap/unknown kind:response => drop`},
	{finds: "unknown/extension", want: Weak, rules: `method:_acptap/* kind:response => answer {}`},
	{finds: "unknown/request", want: Broken, rules: `method:acptap/unknown kind:response => drop`},
	{finds: "unknown/request", want: Weak, rules: `method:acptap/unknown kind:response => error -32600 "Invalid request"`},
	{finds: "unknown/notification", want: Broken, rules: `method:_acptap/unknown kind:notification => inject client {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`},
	{finds: "unknown/cancel-request", want: Broken, rules: `method:$/cancel_request kind:notification => inject client {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`},
	{finds: "cancel/idle", want: Broken, rules: `method:session/cancel kind:notification => inject client {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"nothing runs"}}`},
	{finds: "cancel/unknown", want: Hurts, rules: `method:session/cancel .params.sessionId=acptap-nobody => die`},
	{finds: "cancel/text", want: Broken, rules: `method:session/prompt kind:response .result.stopReason=cancelled => set result.stopReason "end_turn"`},
	{finds: "cancel/request", want: Broken, rules: `method:$/cancel_request .params.requestId=1001 => die`},
	{finds: "login/wall", want: Broken, rules: `method:initialize kind:response .result.authMethods.0.id~. => set result.authMethods []`},
	{finds: "set-up/new", want: Broken, rules: `method:session/new kind:response => delete result.sessionId`},
	{finds: "set-up/two", want: Broken, rules: `method:session/new kind:response => set result.sessionId "scripted-1"`},
	{finds: "set-up/directories", want: Broken, rules: `method:session/new .params.additionalDirectories~. => error -32602 "unknown member additionalDirectories"`},
	{finds: "servers/turn", want: Weak, rules: `method:session/new kind:request .params.mcpServers.0.name~. => set params.mcpServers []`},
	{finds: "servers/http", want: Weak, rules: `method:session/new kind:request .params.mcpServers.0.type=http => set params.mcpServers []`},
	{finds: "load/unknown", want: Hurts, rules: `method:session/load kind:request .params.sessionId=acptap-nobody => answer {}`},
	{finds: "load/replay", want: Broken, rules: "update:user_message_chunk => drop\nupdate:agent_message_chunk !turn:>=1 => drop"},
	{finds: "sessions/list", want: Broken, rules: `method:session/list kind:response .result.sessions.0.cwd~. => set result.sessions.0.cwd "work"`},
	{finds: "sessions/list", want: Weak, rules: `method:session/list kind:response .result.sessions.0.cwd~. => set result.sessions.0.cwd "/elsewhere" [nth 2]`},
	{finds: "sessions/cursor", want: Weak, rules: `method:session/list kind:request .params.cursor~. => answer {"sessions":[]}`},
	{finds: "sessions/delete", want: Broken, rules: `method:session/list kind:response .result.sessions.0.sessionId=s0 => set result.sessions.0.sessionId "scripted-1"`},
	{finds: "sessions/delete-unknown", want: Weak, rules: `method:session/delete kind:request .params.sessionId=acptap-nobody => error -32602 "no such session"`},
	{finds: "sessions/close", want: Broken, rules: `method:session/close kind:request => error -32601 "Method not found"`},
	{finds: "sessions/resume", want: Broken, rules: `method:session/resume kind:request => inject client {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${params.sessionId},"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ok"}}}}`},
	{finds: "sessions/resume-unknown", want: Hurts, rules: `method:session/resume kind:request .params.sessionId=acptap-nobody => answer {}`},
	{finds: "sessions/fork", want: Broken, rules: `method:session/fork kind:response => set result.sessionId "scripted-1"`},
	{finds: "settings/mode", want: Broken, rules: `method:session/set_mode kind:request => error -32603 "cannot change the mode"`},
	{finds: "settings/option", want: Broken, rules: `method:session/set_config_option kind:response .result.configOptions.0.id~. => set result.configOptions []`},
	{finds: "turn/text", want: Hurts, rules: `update:agent_message_chunk turn:>=1 => postpone 500ms`},
	{finds: "turn/link", want: Broken, rules: `method:session/prompt kind:request .params.prompt.1.type=resource_link => error -32602 "only text"`},
	{finds: "turn/image", want: Broken, rules: `method:session/prompt kind:request .params.prompt.1.type=image => error -32602 "only text"`},
	{finds: "turn/embedded", want: Broken, rules: `method:session/prompt kind:request .params.prompt.1.type=resource => error -32602 "only text"`},
	{finds: "turn/fails-401", want: Hurts, rules: `method:session/prompt kind:response is:error !.error.code=-32800 => die`},
	{finds: "questions/allowed", want: Hurts, rules: `method:session/request_permission kind:response .result.outcome.optionId=y => die`},
	{finds: "questions/rejected", want: Hurts, rules: `method:session/request_permission kind:response .result.outcome.optionId=n => die`},
	{finds: "questions/unknown-option", want: Hurts, rules: `method:session/request_permission kind:response .result.outcome.optionId=acptap-unknown => die`},
	{finds: "questions/error", want: Hurts, rules: `method:session/request_permission kind:response is:error => die`},
	{finds: "questions/files", want: Broken, rules: `method:session/prompt kind:request => inject client {"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":${params.sessionId},"path":"/w/a"}}`},
	{finds: "v2/info", want: Broken, in: dialect.ACPv2, rules: `method:initialize kind:response => set result.info.version ""`},
	{finds: "v2/close", want: Broken, in: dialect.ACPv2, rules: `method:session/close kind:request => error -32601 "Method not found"`},
	{finds: "v2/list", want: Broken, in: dialect.ACPv2, rules: `method:session/list kind:response => set result.sessions.0.cwd "work"`},
	{finds: "v2/empty-batch", want: Broken, in: dialect.ACPv2, rules: `dir:a2c kind:response .error.code=-32600 => set error.code -32700`},
	{finds: "v2/replay-unknown", want: Weak, in: dialect.ACPv2, rules: `method:session/resume kind:request .params.replayFrom.type=acptap_unknown => answer {}`},
	{finds: "RPC002", rules: `method:session/new kind:response => inject before client "[debug] a new session"`},
	{finds: "RPC005", rules: `method:session/new kind:response => set jsonrpc "1.0"`},
	{finds: "ACP208", rules: `method:session/new kind:response .result.sessionId~. => inject before client {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${result.sessionId},"update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}`},
	{finds: "RPC010", rules: `method:session/new kind:response => duplicate`},
}

// wrongServers break one thing each.
var wrongServers = []plant{
	{finds: "arguments/tool", want: Broken, rules: `method:tools/call kind:request !.params.arguments.a~. !.params.name=acptap-nobody => answer {"content":[]}`},
	{finds: "lists/cursor", want: Weak, rules: `method:tools/list kind:request .params.cursor=acptap-nobody => answer {"tools":[]}`},
	{finds: "unknown/method", want: Broken, rules: `method:acptap/nobody kind:response => answer {}`},
	{finds: "unknown/method", want: Weak, rules: `method:acptap/nobody kind:response => error -32600 "Invalid request"`},
	{finds: "unknown/notification", want: Broken, rules: `method:notifications/acptap-nobody => inject client {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`},
	{finds: "unknown/prompt", want: Weak, rules: `method:prompts/get kind:request .params.name=acptap-nobody => answer {"messages":[]}`},
	{finds: "unknown/tool", want: Weak, rules: `method:tools/call kind:request .params.name=acptap-nobody => answer {"content":[]}`},
	{finds: "wire/byte-by-byte", want: Broken, rules: `dir:c2a kind:request id=slow => drop`},
	{finds: "wire/long-line", want: Broken, rules: `dir:c2a size:>1M => die`},
}

// wrongClients break one thing each.
var wrongClients = []plant{
	{finds: "login/required", want: Broken, rules: `method:session/new kind:response is:error => inject agent {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"none","prompt":[{"type":"text","text":"hi"}]}}`},
	{finds: "permission/cancelled", want: Broken, rules: `method:session/request_permission kind:response .result.outcome.outcome=cancelled => set result.outcome {"outcome":"selected","optionId":"yes"}`},
	{finds: "permission/cancelled", want: Broken, rules: `method:session/request_permission kind:response .result.outcome.outcome=cancelled => error -32603 "cancelled"`},
	{finds: "permission/string-id", want: Broken, rules: `dir:c2a kind:response id:acptap => set id 0`},
	{finds: "permission/unannounced", want: Hurts, rules: `method:session/request_permission kind:request .params.toolCall.toolCallId=new => error -32603 "no such tool call"`},
	{finds: "request/extension", want: Broken, rules: `method:_acptap/* kind:request dir:a2c => drop`},
	{finds: "request/extension", want: Weak, rules: `method:_acptap/* kind:response dir:c2a => answer {}`},
	{finds: "request/unknown", want: Broken, rules: `method:session/acptap_unknown kind:request => drop`},
	{finds: "request/unknown", want: Weak, rules: `method:session/acptap_unknown kind:response => answer {}`},
	{finds: "update/early", want: Hurts, rules: `update:available_commands_update => hangup`},
	{finds: "update/unknown", want: Hurts, rules: `update:acptap_unknown => hangup`},
	{finds: "update/subagent", want: Hurts, rules: `update:* .params.sessionId=acptap-child => hangup`},
	{finds: "wire/junk", want: Hurts, rules: `dir:a2c kind:invalid => hangup`},
	{finds: "wire/large", want: Broken, rules: `dir:a2c size:>1M => hangup`},
	{finds: "wire/pieces", want: Broken, rules: `method:_acptap/pieces kind:request => drop`},
	{finds: "version/unknown", want: Weak, rules: `method:initialize kind:response .result.protocolVersion=99 => inject agent {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`},
	{finds: "RPC005", rules: `dir:c2a kind:request => set jsonrpc "1.0"`},
	{finds: "ACP203", rules: `method:session/new kind:request => set params.cwd "w"`},
	{finds: "ACP001", rules: `method:session/new kind:request => delete params.mcpServers`},
	{finds: "RPC010", rules: `dir:c2a kind:response method:_acptap/* => duplicate`},
	{finds: "ACP423", rules: `method:session/request_permission kind:response .result.outcome.outcome=selected => set result.outcome.optionId "maybe"`},
}
