// A client of the npm package @modelcontextprotocol/sdk: node mcp.mjs SCENARIO SERVER [ARG...]
// It lists the tools and calls one, and says how that went.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "faults", version: "1" });
const patient = { timeout: 1e9 };
let said;
try {
  await client.connect(new StdioClientTransport({ command, args, env: process.env }), patient);
  for (let cursor; ; ) {
    const page = await client.listTools(cursor ? { cursor } : {}, patient);
    if (!(cursor = page.nextCursor)) break;
  }
  const result = await client.callTool({ name: "t", arguments: {} }, undefined, patient);
  said = "ok" + (result.isError ? " isError" : "");
} catch {
  said = "error";
}
console.log("outcome: " + said);
setTimeout(() => process.exit(), 500);
await client.close().catch(() => {});
process.exit();
