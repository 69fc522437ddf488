/**
 * `npm run pack:client`: makes the installable clients, `.data/client/ballast-<version>.tgz`, which is plain, and
 * `ballast-effect-<version>.tgz` for programs on Effect, or in the folder that is named as its argument. The compiler
 * writes a module of JavaScript and its types for each module that the entries reach, so bundlers leave out what a
 * program does not use. docs/decisions/0182-client-package.md and 0312-plain-client.md say why.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, cpSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { contractTypes } from "./contractTypes.ts"

const root = resolve(import.meta.dirname, "..")
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

interface Package {
  readonly name: string
  readonly description: string
  /** What its users import, and the module that each name stands for. */
  readonly entries: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  /** Peers that a part of it needs alone. */
  readonly optional: ReadonlyArray<string>
  readonly readme: string
}

/** The version that the tests run with, and later ones without a break. */
const upFrom = (library: string) => `^${own.dependencies[library]}`

const packages: ReadonlyArray<Package> = [
  {
    name: own.name,
    description: "Client of Ballast, the portfolio automation service.",
    entries: own.exports,
    dependencies: {},
    peerDependencies: { viem: upFrom("viem") },
    optional: ["viem"],
    readme: "client/README.md"
  },
  {
    // A package of its own: npm refuses an optional peer too, where an app has another version of it.
    name: `${own.name}-effect`,
    description: "Client of Ballast, the portfolio automation service, for programs on Effect 4.",
    entries: { ".": "./client/effect/effect.ts" },
    dependencies: { "@noble/hashes": own.dependencies["@noble/hashes"] },
    peerDependencies: { effect: upFrom("effect") },
    optional: [],
    readme: "client/effect/README.md"
  }
]

const target = resolve(process.argv[2] ?? join(root, ".data/client"))
mkdirSync(target, { recursive: true })
const builds = join(root, ".data/client")
mkdirSync(builds, { recursive: true })
/** Folder within the repository, where the compiler finds the libraries. */
const stage = mkdtempSync(join(builds, "stage-"))

const filesUnder = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))

/** Folders from which the entries may load. */
const rooms = ["client", "domain", "http", "rpc", "stream"]

const ownModule = /(\b(?:from|import)\s*\(?\s*)"#([^"]+\.ts)"/gu

/** `#domain/values/Caip.ts` becomes a path from the importing module, which every platform can follow. */
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
    files: packages.flatMap(({ entries }) => Object.values(entries)).map((path) => join(stage, "src", path))
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

/** The files that entries reach: JavaScript that is loaded, or types that are read. */
const reached = (entries: Readonly<Record<string, string>>, ending: ".js" | ".d.ts"): ReadonlySet<string> => {
  const files = new Set<string>()
  const visit = (path: string): void => {
    if (files.has(path)) return
    files.add(path)
    for (const [, way] of readFileSync(path, "utf8").matchAll(relativeImport))
      visit(join(dirname(path), way!).replace(/\.js$/u, ending))
  }
  for (const path of Object.values(entries)) visit(join(stage, "dist", path.replace(/\.ts$/u, ending)))
  return files
}

const pack = ({ dependencies, description, entries, name, optional, peerDependencies, readme }: Package): string => {
  const folder = join(stage, name)
  for (const file of [...reached(entries, ".js"), ...reached(entries, ".d.ts")]) {
    const copy = join(folder, relative(stage, file))
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(file, copy)
  }
  const exports = Object.fromEntries(
    Object.entries(entries).map(([entry, path]) => {
      const module = `./dist/${path.slice(2).replace(/\.ts$/u, "")}`
      return [entry, { types: `${module}.d.ts`, default: `${module}.js` }]
    })
  )
  const manifest = {
    name,
    version: own.version,
    description,
    license: own.license,
    type: "module",
    sideEffects: false,
    exports,
    files: ["dist"],
    engines: own.engines,
    dependencies,
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(optional.map((peer) => [peer, { optional: true }]))
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(root, readme), join(folder, "README.md"))
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", target], {
    cwd: folder,
    encoding: "utf8"
  })
  return join(target, packed.trim())
}

try {
  compile()
  // The contract's types stand alone in the packages.
  writeFileSync(join(stage, "dist/client/Contract.d.ts"), contractTypes())
  for (const each of packages) process.stdout.write(`${pack(each)}\n`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}
