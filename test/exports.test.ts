/** What a file exports, another one imports; what it needs alone, it keeps. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { inFolder, root, sources } from "#test/sources.ts"

/** `client` is for programs outside, and so is what the package exports. */
const folders = ["domain", "layers", "http", "rpc", "stream", "src"]

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string>>
}

/** Modules of which every name counts as imported: the package's own, and those that are handed on as a whole. */
const wholly = new Set(Object.values(manifest.exports).map((path) => path.slice("./".length)))

/** Names that are imported, as `path name`. */
const imported = new Set<string>()

const namedImport = /^(?:import|export) (?:type )?\{([^}]*)\} from "#([^"]+)"/gmu
const wholeImport = /^import (?:type )?\* as (\w+) from "#([^"]+)"/gmu
/** A module that is handed on, or is loaded when it is needed. */
const handedOn = /^export \* from "#([^"]+)"|\bimport\("#([^"]+)"\)/gmu

for (const { code } of sources) {
  for (const [, names, path] of code.matchAll(namedImport)) {
    for (const name of names!.matchAll(/(?:^|,)\s*(?:type )?(\w+)/gu)) imported.add(`${path} ${name[1]}`)
  }
  for (const [clause, alias, path] of code.matchAll(wholeImport)) {
    const rest = code.replace(clause, "")
    for (const [, name] of rest.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, "gu"))) imported.add(`${path} ${name}`)
    if (new RegExp(`(?<![.\\w"])${alias}\\b(?![.\\w":])`, "u").test(rest)) wholly.add(path!)
  }
  for (const [, whole, loaded] of code.matchAll(handedOn)) wholly.add((whole ?? loaded)!)
}

const exportedValue = /^export (?:const|(?:async )?function\*?|(?:abstract )?class) (\w+)/gmu

const exported = folders
  .flatMap(inFolder)
  .flatMap(({ code, path }) => [...code.matchAll(exportedValue)].map(([, name]) => ({ name: name!, path })))

describe("exports", () => {
  it("every value that a file exports is imported by another file", () => {
    assert.isAbove(exported.length, 2_000)
    assert.deepStrictEqual(
      exported
        .filter(({ name, path }) => !wholly.has(path) && !imported.has(`${path} ${name}`))
        .map(({ name, path }) => `${path}: ${name}`),
      []
    )
  })
})
