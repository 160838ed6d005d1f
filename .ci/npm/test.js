// Replay of recorded agents in tests.
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Readable, Writable } = require("node:stream");
const { program } = require("./program.js");

/** See test.d.ts. */
exports.replayAgent = function replayAgent(tape, options = {}) {
  const file = path.resolve(tape);
  const mode = options.mode ?? process.env.ACPTAP_MODE ?? "none";
  if (!fs.existsSync(file) && (mode === "none" || !options.agent)) {
    throw new Error(`acptap: ${file} is not there; to record it, ${options.agent ? "set ACPTAP_MODE=once" : `give options.agent, or run: acptap export -o ${tape} last`}`);
  }
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "acptap-test-"));
  process.once("exit", () => fs.rmSync(dir, { recursive: true, force: true }));
  const report = path.join(dir, "report.json");
  const args = ["replay", "agent", "--file", file, "--report", report, "--mode", mode];
  if (options.match) args.push("--match", options.match);
  if (options.fault) args.push("--fault", options.fault);
  args.push(...(options.args ?? []));
  if (options.agent) args.push("--", ...options.agent);
  return { command: program(), args, report, done: () => reported(report, file, args) };
};

/** See test.d.ts. */
exports.connect = function connect(tape, options) {
  const agent = exports.replayAgent(tape, options);
  const child = spawn(agent.command, agent.args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => child.once("exit", (code, signal) => resolve(signal ?? `status ${code}`)).once("error", reject));
  child.stdin.on("error", () => {}); // the end of the agent says more
  return {
    writable: Writable.toWeb(child.stdin),
    readable: Readable.toWeb(child.stdout),
    async done() {
      child.stdin.end();
      child.stdout.resume();
      const end = await ended;
      if (!fs.existsSync(agent.report)) throw new Error(`acptap: the replay of ${tape} ended with ${end}, without a report: see stderr`);
      return agent.done();
    },
  };
};

// patience is how long an agent whose client has left may take to write its report. A test
// of vitest or Jest may take 5 s by default.
const patience = 4_000;

// reported waits for the report, and throws if the client left the tape.
async function reported(file, tape, args) {
  const until = Date.now() + patience;
  while (!fs.existsSync(file)) {
    if (Date.now() > until) {
      throw new Error(`acptap: no report on ${tape} after ${patience / 1000} s: the client did not start the agent, or still runs it, or this fails: acptap ${args.join(" ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const report = JSON.parse(fs.readFileSync(file, "utf8"));
  if (report.error) throw new Error(`acptap: ${report.error}`);
  if (report.misses?.length || report.left) {
    const lines = report.misses.map(missText);
    for (const m of report.neverCame) lines.push(`never came: ${m.method}, frame ${m.seq}`);
    throw new Error(`the client left the tape ${tape}:\n  ${lines.join("\n  ")}`);
  }
  return report;
}

// missText says what the client did that is not on the tape.
function missText(m) {
  const near = m.expected ? `; the nearest on the tape is frame ${m.expected.seq}, ${m.expected.method}` : "";
  const differs = (m.differs ?? []).map((d) => `\n    ${d.path}: want ${d.want}, got ${d.got}`);
  return m.miss + near + differs.join("");
}
