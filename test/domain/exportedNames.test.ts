/** A name that the domain exports is one thing, so that a reader who finds it knows which. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folders = ["domain", "layers", "http", "rpc", "stream", "src", "client", "sandbox", "bench", "test", "scripts"]

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") }))
)

const domain = sources.filter(({ path }) => path.startsWith("domain/"))

const exportedName =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|type|interface|class|function\*?|enum) (\w+)/gmu

/** `import { a, type B as C } from "#domain/x.ts"`: what is taken from a module by its name. */
const namedImport = /^import (?:type )?\{([^}]*)\} from "[#](domain\/[^"]+)"/gmu

const importedByName = new Set(
  sources.flatMap(({ text }) =>
    [...text.matchAll(namedImport)].flatMap(([, names, module]) =>
      names!
        .split(",")
        .map(
          (name) =>
            name
              .trim()
              .replace(/^type /u, "")
              .split(" as ")[0]!
        )
        .map((name) => `${module}#${name}`)
    )
  )
)

/** A type and its value may have one name in one file. */
const exportsOf = ({ path, text }: (typeof sources)[number]) =>
  [...new Set([...text.matchAll(exportedName)].map(([, name]) => name!))].map((name) => ({ name, path }))

describe("exported names of the domain", () => {
  it("a name is exported by one file, unless every reader says its module before it, as `Decimal.format`", () => {
    const byName = Map.groupBy(domain.flatMap(exportsOf), ({ name }) => name)
    assert.isAbove(byName.size, 1_000)
    assert.deepStrictEqual(
      [...byName.values()]
        .filter((found) => found.length > 1 && found.some(({ name, path }) => importedByName.has(`${path}#${name}`)))
        .map((found) => `${found[0]!.name}: ${found.map(({ path }) => path).join(", ")}`),
      []
    )
  })

  it("they are exported where they are declared", () =>
    assert.deepStrictEqual(
      domain.filter(({ text }) => /^export (?:type )?[{*]/mu.test(text)).map(({ path }) => path),
      []
    ))
})
