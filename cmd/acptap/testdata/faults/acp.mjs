// A client of the npm package @agentclientprotocol/sdk: node acp.mjs SCENARIO AGENT [ARG...]
// It does a turn and says how that went, as the clients of fault_clients_test.go do.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [scenario, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
agent.stdin.on("error", () => {});
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const cwd = process.cwd();
let cancel = async () => {};
const client = acp.client({ name: "faults" })
  .onRequest("session/request_permission", async ({ params }) => ({ outcome: { outcome: "selected", optionId: params.options[0].optionId } }))
  .onRequest("fs/write_text_file", async () => ({}))
  .onRequest("terminal/create", async () => ({ terminalId: "t" }))
  .onRequest("terminal/wait_for_exit", async () => ({ exitCode: 0 }))
  .onNotification("session/update", async () => cancel());
let said;
try {
  await client.connectWith(stream, async (ctx) => {
    await ctx.request("initialize", { protocolVersion: 1, clientInfo: { name: "faults", version: "1" }, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } });
    let { sessionId } = await ctx.request("session/new", { cwd, mcpServers: [] });
    if (scenario === "load") await ctx.request("session/load", { sessionId, cwd, mcpServers: [] });
    if (scenario === "cancel") cancel = async () => { cancel = async () => {}; await ctx.notify("session/cancel", { sessionId }); };
    const turn = await ctx.request("session/prompt", { sessionId, prompt: [{ type: "text", text: scenario }] });
    said = "ok " + JSON.stringify(turn?.stopReason ?? null);
  });
} catch {
  said ??= "error";
}
console.log("outcome: " + said);
agent.stdin.end();
setTimeout(() => process.exit(), 500);
agent.on("exit", () => process.exit());
