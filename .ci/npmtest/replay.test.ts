// Tests of acptap/test with clients that were not made for it.
import * as acp from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { connect, replayAgent } from "acptap/test";
import { expect, test } from "vitest";

// prompt does a turn with the recorded agent, and returns what it said.
async function prompt(text: string) {
  const agent = connect("agent.jsonl");
  let said = "";
  const client = acp.client({ name: "test" }).onNotification("session/update", async ({ params }) => {
    if (params.update.sessionUpdate === "agent_message_chunk" && params.update.content.type === "text") said += params.update.content.text;
  });
  const turn = await client.connectWith(acp.ndJsonStream(agent.writable, agent.readable), async (ctx) => {
    await ctx.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await ctx.request("session/new", { cwd: process.cwd(), mcpServers: [] });
    return ctx.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }).catch(() => undefined);
  });
  return { said, stopReason: turn?.stopReason, done: agent.done };
}

test("a recorded agent answers as on the tape", async () => {
  const turn = await prompt("hello");
  expect(turn).toMatchObject({ said: "hi there", stopReason: "end_turn" });
  expect(await turn.done()).toMatchObject({ matched: 3, misses: [], left: 0 });
});

test("what is not on the tape fails, with what differs", async () => {
  const turn = await prompt("good bye");
  await expect(turn.done()).rejects.toThrow("prompt[0].text: want hello, got good bye");
});

test("a recorded server answers a client that starts it", async () => {
  const server = replayAgent("server.jsonl", { mode: "none", match: "content" });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: server.command, args: server.args }));
  expect(await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).toMatchObject({ content: [{ text: "3" }] });
  await client.close();
  expect((await server.done()).misses).toEqual([]);
});

test("what the client leaves out fails", async () => {
  const server = replayAgent("server.jsonl");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: server.command, args: server.args }));
  await client.close();
  await expect(server.done()).rejects.toThrow("never came: tools/call, frame 4");
});

test("a tape that is not there", () => {
  expect(() => replayAgent("none.jsonl")).toThrow("none.jsonl is not there; to record it");
  expect(() => replayAgent("none.jsonl", { agent: ["my-agent"] })).toThrow("none.jsonl is not there; to record it, set ACPTAP_MODE=once");
});

test("a tape that cannot be played", async () => {
  await expect(connect("replay.test.ts").done()).rejects.toThrow("replay.test.ts:1: ");
});

test("a flag that is wrong", async () => {
  await expect(connect("agent.jsonl", { fault: "nope" }).done()).rejects.toThrow("ended with status 2, without a report");
});
