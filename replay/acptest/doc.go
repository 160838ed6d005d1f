// Package acptest lets Go tests talk to an agent or a client played from a tape, without
// the real one, its network and its tokens.
//
// [Agent] plays the agent to the client under test:
//
//	func TestGreeting(t *testing.T) {
//		stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl", acptest.Live("my-agent", "--acp"))
//		conn := acp.NewClientSideConnection(&client{}, stdin, stdout)
//		…
//	}
//
// If that file does not exist, the first run records it from the agent that Live names,
// and logs that. Later runs replay it. See [replay.Mode] for other ways. The environment
// variable ACPTAP_MODE overrides the mode: with none, as on a build server, a test
// without its file fails at once and no agent runs; with all, every file that has an
// agent is recorded again.
//
// [AgentCommand] does the same for a client that starts its agent itself, and
// [Client] plays the client to an agent under test. Packages replay and drive say
// how that works. Each call takes functions that set the fields of a
// replay.Cassette or a drive.Client.
//
//	acptest.Client(t, "testdata/greeting.jsonl", []string{"./my-agent", "--acp"},
//		func(c *drive.Client) { c.Level = compare.Content })
//
// [Server] plays an agent or an MCP server over HTTP and over WebSockets. [Check] judges a
// tape by the specifications; [CheckClient] and [CheckAgent] judge the side under test,
// while the other is played.
//
// [Rules], [Fault] and [Seed] change what passes between the client under test and the agent:
// they delay, drop and change messages, or end the agent. [Faults] runs a client under one
// fault after the other.
//
// [Probe] plays test conversations to an agent or a server under test, and judges how it
// reacts.
//
// A deviation from the tape fails the test. Client reports it when it returns, the others
// at the end of the test. No goroutine or process that this package starts outlives the
// test, unless a function of the test hangs.
package acptest
