/**
 * `npm run pack:client`: makes the installable client, `.data/client/ballast-<version>.tgz`, or in the folder that is
 * named as its argument. The compiler writes a module of JavaScript and its types for each module that the entries
 * reach, so bundlers leave out what a program does not use; modules that are reached by types alone keep their types
 * only. docs/decisions/0182-client-package.md says why.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, cpSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** What the package's users import, and the module that each name stands for. */
const entries: Readonly<Record<string, string>> = own.exports

/** Libraries of the client; viem is needed by `ballast/signing` alone. */
const dependencies = { "@noble/hashes": own.dependencies["@noble/hashes"] }
const peerDependencies = { effect: own.dependencies.effect, viem: own.dependencies.viem }

const target = resolve(process.argv[2] ?? join(root, ".data/client"))
mkdirSync(target, { recursive: true })
const builds = join(root, ".data/client")
mkdirSync(builds, { recursive: true })
/** Within the repository, where the compiler finds the libraries. */
const stage = mkdtempSync(join(builds, "stage-"))

const filesUnder = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))

/** Folders from which the entries may load. */
const rooms = ["client", "domain", "http", "rpc", "stream"]

const ownModule = /(\b(?:from|import)\s*\(?\s*)"#([^"]+\.ts)"/gu

/** `#domain/Caip.ts` becomes a path from the importing module, which every platform can follow. */
const withRelativeImports = (text: string, module: string) =>
  text.replaceAll(ownModule, (_, keyword: string, imported: string) => {
    const way = relative(dirname(module), imported)
    return `${keyword}"${way.startsWith(".") ? way : `./${way}`}"`
  })

const compile = () => {
  for (const path of rooms.flatMap((room) => filesUnder(join(root, room), ".ts"))) {
    const module = relative(root, path)
    const copy = join(stage, "src", module)
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, withRelativeImports(readFileSync(path, "utf8"), module))
  }
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(stage, "src"),
      outDir: join(stage, "dist"),
      // Nothing of Node: a module that needs it does not compile.
      types: []
    },
    include: [],
    files: Object.values(entries).map((path) => join(stage, "src", path))
  }
  const file = join(stage, "tsconfig.json")
  writeFileSync(file, JSON.stringify(config))
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", file], { stdio: "inherit" })
  // Types name the modules that they import by their sources, which are not in the package.
  for (const path of filesUnder(join(stage, "dist"), ".d.ts")) {
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/(["'])(\.{1,2}\/[^"']+)\.ts\1/gu, '"$2.js"'))
  }
}

/** Lines of a comment do not count: an example there may import what no entry loads. */
const relativeImport = /^(?!\s*(?:\*|\/\/)).*?\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/gmu

/** Removes JavaScript that no entry loads: what the service imports for its types alone. */
const dropUnloaded = () => {
  const dist = join(stage, "dist")
  const loaded = new Set<string>()
  const visit = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const [, way] of readFileSync(path, "utf8").matchAll(relativeImport)) visit(join(dirname(path), way!))
  }
  for (const path of Object.values(entries)) visit(join(dist, path.replace(/\.ts$/u, ".js")))
  for (const path of filesUnder(dist, ".js")) if (!loaded.has(path)) rmSync(path)
}

const describe = () => {
  const exports = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => {
      const module = `./dist/${path.slice(2).replace(/\.ts$/u, "")}`
      return [name, { types: `${module}.d.ts`, default: `${module}.js` }]
    })
  )
  const manifest = {
    name: own.name,
    version: own.version,
    description: "Client of Ballast, the portfolio automation service.",
    license: own.license,
    type: "module",
    sideEffects: false,
    exports,
    files: ["dist"],
    engines: own.engines,
    dependencies,
    peerDependencies,
    peerDependenciesMeta: { viem: { optional: true } }
  }
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(root, "docs/client.md"), join(stage, "README.md"))
}

try {
  compile()
  dropUnloaded()
  describe()
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", target], {
    cwd: stage,
    encoding: "utf8"
  })
  process.stdout.write(`${join(target, packed.trim())}\n`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}
