// Puts the program in the place of bin/acptap, so that no Node process stays between a client
// and the program. npm runs this when it installs the package, if it may; otherwise the first
// run of bin/acptap does it.
const fs = require("node:fs");
const path = require("node:path");
const { program } = require("./program.js");

/** Replaces bin/acptap. Throws if that cannot be done. Does nothing on Windows, where npm's shims run Node. */
exports.replace = function replace() {
  if (process.platform === "win32") return;
  const bin = path.join(__dirname, "bin", "acptap");
  const next = `${bin}.${process.pid}`;
  try {
    try {
      fs.linkSync(program(), next);
    } catch (err) {
      if (err.code !== "EXDEV" && err.code !== "EPERM") throw err;
      fs.copyFileSync(program(), next);
      fs.chmodSync(next, 0o755);
    }
    fs.renameSync(next, bin);
  } finally {
    fs.rmSync(next, { force: true });
  }
};

if (require.main === module) {
  try {
    exports.replace();
  } catch (err) {
    console.error(`acptap: ${err.message}`); // and the installation goes on: bin/acptap says it again
  }
}
