// Puts the program in the place of bin/acptap, so that no Node process stays between a client
// and the program. Where that cannot be done, bin/acptap runs the program.
const fs = require("node:fs");
const path = require("node:path");
const { program } = require("./program.js");

if (process.platform !== "win32") {
  // npm's .bin has a link to bin/acptap; on Windows it has scripts that run Node.
  const bin = path.join(__dirname, "bin", "acptap");
  const next = `${bin}.next`;
  try {
    fs.rmSync(next, { force: true });
    try {
      fs.linkSync(program(), next);
    } catch (err) {
      if (err.code !== "EXDEV" && err.code !== "EPERM") throw err;
      fs.copyFileSync(program(), next);
      fs.chmodSync(next, 0o755);
    }
    fs.renameSync(next, bin);
  } catch (err) {
    fs.rmSync(next, { force: true });
    console.error(`acptap: ${err.message}`);
  }
}
