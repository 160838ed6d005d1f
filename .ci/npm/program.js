// Finds the program in the package for this system.
const fs = require("node:fs");
const path = require("node:path");

/** Returns the absolute path of the program. Throws an Error that says what to do if it cannot be run. */
exports.program = function program() {
  const system = `${process.platform}-${process.arch}`;
  const known = Object.keys(require("./package.json").optionalDependencies);
  const name = `@acptap/${system}`;
  if (!known.includes(name)) {
    throw new Error(`there is no program for ${system}, only for ${known.map((k) => k.slice("@acptap/".length)).join(", ")}; with Go: go install github.com/acptap/acptap/cmd/acptap@latest`);
  }
  let file;
  try {
    file = path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", process.platform === "win32" ? "acptap.exe" : "acptap");
  } catch {
    throw new Error(`the package ${name} is missing: install acptap again, with optional dependencies (without --omit=optional) and on this system`);
  }
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch (err) {
    throw new Error(err.code === "ENOENT" ? `${file} is missing: install acptap again` : `${file} cannot be run: chmod +x ${file}`);
  }
  return file;
};
