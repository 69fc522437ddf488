/**
 * The rules of the house that a reader of one file cannot see: which folder may import which, and what only one file
 * may do. Source: docs/architecture.md, "The dependency rule".
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  adapters,
  contexts,
  foundations,
  innerRooms,
  type Rooms,
  routes,
  sandboxRooms,
  stores,
  topFolders,
  wires
} from "#test/rooms.ts"
import {
  type Arrows,
  circlesOf,
  foldersOf,
  importedModule,
  inFolder,
  ownImports,
  partsOf,
  reachedFrom,
  reduced,
  roomOf,
  roomsOf,
  root,
  type Source,
  sources
} from "#test/sources.ts"

const byPath = new Map(sources.map((source) => [source.path, source]))

/** Folders above 25 files, and why they are not split. */
const large: Readonly<Record<string, string>> = {
  migrations: "their numbers are their order"
}

/** Libraries that files import and no pattern allows, as `file -> module`. */
const foreign = (
  among: ReadonlyArray<Source>,
  allowed: ReadonlyArray<RegExp>,
  also: Readonly<Record<string, RegExp>> = {}
) =>
  among.flatMap(({ path, imports }) =>
    imports
      .filter(
        (name) =>
          !name.startsWith("#") &&
          ![...allowed, ...(also[path] === undefined ? [] : [also[path]])].some((pattern) => pattern.test(name))
      )
      .map((name) => `${path} -> ${name}`)
  )

const effect = /^effect(\/|$)/

/** Files of `layers/` that know the domain and nothing outside of it, and why they are no rules of it. */
const domainAlone: Readonly<Record<string, string>> = {
  "layers/FamiliesLive.ts": "wiring: the terms of each family's adapter",
  "layers/catalogue/SubjectFactsLive.ts": "reads the catalogue's own tables",
  "layers/engine/DryRunLive.ts": "wiring: the layers of a run, for one that is not carried out",
  "layers/engine/SignalSteps.ts": "wiring: a hook of the engine calls the domain",
  "layers/market/keptPrices.ts": "what that cache keeps of a source's answers beside it",
  "layers/market/PricesLive.ts": "a cache before whichever source of prices a deployment has",
  "layers/stream/InProcessBackplane.ts": "keeps its port in the memory of the process"
}

/**
 * Whether all that a file imports, directly or by way of other adapters, is the domain and what of effect reaches
 * nothing: no database, network, engine, file or compiled contract.
 */
const isWithinDomain = (path: string): boolean =>
  byPath
    .get(path)
    ?.imports.every(
      (name) =>
        /^effect(?:\/(?:crypto|encoding))?$|^#domain\//.test(name) ||
        (name.startsWith("#layers/") && isWithinDomain(name.slice(1)))
    ) ?? false

const arrowsOf = (rooms: Rooms): Arrows =>
  new Map(Object.entries(rooms).map(([name, others]) => [name, new Set(others)]))

/** Lists arrows in one order, so that two of them are compared by what they hold. */
const listed = (arrows: Arrows) =>
  [...arrows].flatMap(([name, others]) => [name, ...[...others].map((other) => `${name} -> ${other}`)]).sort()

/** What a list imports before its position, as `name -> other`. Without any there is no circle. */
const misplaced = (rooms: Rooms) => {
  const order = Object.keys(rooms)
  return Object.entries(rooms).flatMap(([name, others]) =>
    others
      .filter((other) => order.indexOf(other.split("/")[0]!) >= order.indexOf(name))
      .map((other) => `${name} -> ${other}`)
  )
}

/** What `patterns` find outside the paths that may. */
const uses = (pattern: RegExp, mayUse: RegExp) =>
  sources.filter(({ path, code }) => !mayUse.test(path) && pattern.test(code)).map(({ path }) => path)

/** All files that a file loads, itself included. Types alone load nothing. */
const closure = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
  const source = byPath.get(path)
  if (source === undefined || seen.has(path)) return seen
  seen.add(path)
  const code = source.code.replaceAll(/\bimport\s+type\b[^"]*"[^"]*"/g, "")
  for (const [, name] of code.matchAll(importedModule)) {
    if (name!.startsWith("#")) closure(name!.slice(1), seen)
    else seen.add(name!)
  }
  return seen
}

/** Files that import folders beside them and are imported by them, and why. */
const bringTogether: Readonly<Record<string, string>> = {
  "http/v1/Api.ts": "made of the contracts of its groups, and their handlers are made of it",
  "http/v2/Api.ts": "made of the contracts of its groups, and their handlers are made of it"
}

describe("imports", () => {
  it("there are sources to check", () => assert.isAbove(sources.length, 100))

  it("folders at the root import of each other what the map lists, and all of that", () => {
    const folders = Object.entries(topFolders)
    const among = folders.flatMap(([folder]) => inFolder(folder).map((source) => ({ folder, source })))
    const crossed = among.flatMap(({ folder, source }) =>
      ownImports(source)
        .filter((path) => !path.startsWith(`${folder}/`))
        .map((path) => ({ folder, from: source.path, path }))
    )
    const isIn = (path: string, part: string) => path === part || path.startsWith(`${part}/`)
    assert.deepStrictEqual(
      crossed
        .filter(({ folder, path }) => !topFolders[folder]!.some((part) => isIn(path, part)))
        .map(({ from, path }) => `${from} -> ${path}`),
      []
    )
    assert.deepStrictEqual(
      folders.flatMap(([folder, parts]) =>
        parts
          .filter((part) => !crossed.some((one) => one.folder === folder && isIn(one.path, part)))
          .map((part) => `${folder} -> ${part}: nobody needs it`)
      ),
      []
    )
    assert.deepStrictEqual(misplaced(topFolders), [])
  })

  it("folders of domain import what the maps list, and every context may import the foundations", () => {
    const withoutFoundations = [...roomsOf("domain")].map(([name, others]) => {
      const kept = name in foundations ? others : [...others].filter((other) => !(other in foundations))
      return [name, new Set(kept)] as const
    })
    assert.deepStrictEqual(listed(new Map(withoutFoundations)), listed(arrowsOf({ ...foundations, ...contexts })))
    assert.deepStrictEqual(misplaced({ ...foundations, ...contexts }), [])
  })

  for (const [folder, rooms] of [
    ["layers", adapters],
    ["layers/sql", stores],
    ["http", wires],
    ["http/v2", routes],
    ["sandbox", sandboxRooms],
    ...Object.entries(innerRooms)
  ] as const) {
    it(`folders of ${folder} import of each other what the map lists, all of that, and nothing after them`, () => {
      assert.deepStrictEqual(listed(roomsOf(folder)), listed(arrowsOf(rooms)))
      assert.deepStrictEqual(misplaced(rooms), [])
    })
  }

  it("domain has folders alone", () =>
    assert.deepStrictEqual(
      inFolder("domain").filter(({ path }) => roomOf("domain", path) === undefined),
      []
    ))

  for (const [folder, composing] of [
    ["http", ["http/Routes.ts"]],
    ["sandbox", []]
  ] as const) {
    it(`files at the root of ${folder} import none of its folders, but for what brings them together`, () => {
      const above = inFolder(folder).filter(({ path }) => roomOf(folder, path) === undefined)
      assert.isAbove(above.length, 0)
      assert.deepStrictEqual(
        above
          .filter((source) => ownImports(source).some((path) => roomOf(folder, path) !== undefined))
          .map(({ path }) => path),
        [...composing]
      )
    })
  }

  it("folders of stores are contexts in the order of the domain, or of the engine and the embedded database", () =>
    assert.deepStrictEqual(
      Object.keys(stores),
      ["run", "pglite", ...Object.keys(contexts)].filter((name) => name in stores)
    ))

  it("a store knows the contexts that its own one knows, and those of the stores that it imports", () => {
    const arrows = arrowsOf(contexts)
    assert.deepStrictEqual(
      inFolder("layers/sql").flatMap((source) => {
        const own = roomOf("layers/sql", source.path)
        if (own === undefined) return []
        const known = new Set(
          [own, ...Object.keys(foundations), ...stores[own]!].flatMap((name) => [name, ...reachedFrom(arrows, name)])
        )
        return ownImports(source)
          .filter((path) => !known.has(roomOf("domain", path) ?? own))
          .map((path) => `${source.path} -> ${path}`)
      }),
      []
    )
  })

  it("folders of http/v2 are contexts, and what of the API is of none", () =>
    assert.deepStrictEqual(
      Object.keys(routes).filter((name) => !(name in contexts)),
      ["meta"]
    ))

  it("the picture in docs/architecture.md has the arrows of the contexts, without those that a longer way says", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
    const picture = /```mermaid\n([\s\S]*?)```/u.exec(page)![1]!
    const drawn = picture
      .replaceAll(/^ *(?:flowchart|subgraph|end\b).*|\["[^"]*"\]/gmu, "")
      .split("\n")
      .map((line) => line.trim().split(" --> "))
      .filter(([name]) => name !== "")
    const needed = [...reduced(arrowsOf(contexts))].flatMap(([name, others]) =>
      [...others].map((other) => `${other} --> ${name}`)
    )
    assert.deepStrictEqual(
      drawn.flatMap((names) => names.slice(1).map((name, index) => `${names[index]} --> ${name}`)).sort(),
      needed.sort()
    )
    assert.deepStrictEqual([...new Set(drawn.flat())].sort(), Object.keys(contexts).sort())
  })

  it("what needs services of the domain, and nothing outside of it, is in the domain", () => {
    const services = new Set(
      inFolder("domain").flatMap(({ code, path }) =>
        [...code.matchAll(/export class (\w+) extends Context\.Service/gu)].map(([, name]) => `#${path} ${name}`)
      )
    )
    const namesService = ({ code }: Source) =>
      [...code.matchAll(/\bimport \{([^}]*)\} from "(#domain\/[^"]+)"/gu)].some(([, names, module]) =>
        names!.split(",").some((name) => services.has(`${module} ${name.trim()}`))
      )
    assert.deepStrictEqual(
      inFolder("layers")
        .filter((source) => namesService(source) && isWithinDomain(source.path))
        .map(({ path }) => path)
        .sort(),
      Object.keys(domainAlone).sort()
    )
  })

  it("no files import each other, directly or by way of others", () =>
    assert.deepStrictEqual(circlesOf(new Map(sources.map((source) => [source.path, new Set(ownImports(source))]))), []))

  it("nor do folders and files that stand side by side, in any folder but those of tests", () => {
    const folders = [...new Set(sources.flatMap(({ path }) => foldersOf(path)))].filter(
      (folder) => !/^test(?:\/|$)/u.test(folder)
    )
    assert.isAbove(folders.length, 100)
    assert.deepStrictEqual(
      folders.flatMap((folder) => circlesOf(partsOf(folder, bringTogether))),
      []
    )
    assert.deepStrictEqual(
      folders.filter((folder) => circlesOf(partsOf(folder)).length > 0).map((folder) => `${folder}/Api.ts`),
      Object.keys(bringTogether)
    )
  })

  it("the domain imports no library but effect; Eip55 its hash besides", () =>
    assert.deepStrictEqual(
      foreign(inFolder("domain"), [effect], { "domain/values/Eip55.ts": /^@noble\/hashes\// }),
      []
    ))

  it("http, rpc and stream import no library but effect; the MCP server its protocol's SDK besides", () =>
    assert.deepStrictEqual(
      foreign(["http", "rpc", "stream"].flatMap(inFolder), [effect], {
        "http/mcp/McpLive.ts": /^@modelcontextprotocol\/sdk\//
      }),
      []
    ))

  it("client imports no library but effect and viem, and no handler", () => {
    assert.deepStrictEqual(foreign(inFolder("client"), [effect, /^viem$/]), [])
    assert.deepStrictEqual(
      inFolder("client")
        .flatMap(ownImports)
        .filter((path) => path.endsWith("Live.ts")),
      []
    )
  })

  it("viem is loaded by signing alone", () =>
    assert.deepStrictEqual(
      ["client/client.ts", "client/rpc.ts", "client/stream.ts"].filter((entry) => closure(entry).has("viem")),
      []
    ))

  it("contracts load nothing that a browser cannot, and no handler", () => {
    for (const contract of ["http/v1/Api.ts", "http/v2/Api.ts", "http/client/client.ts", "http/admin/Admin.ts"]) {
      const loaded = [...closure(contract)]
      assert.isAbove(loaded.length, 10)
      assert.deepStrictEqual(
        loaded.filter((name) => name.startsWith("node:") || name.startsWith("@effect/") || name.endsWith("Live.ts")),
        []
      )
    }
  })

  it("the stream's client and the procedures load nothing that a browser cannot, and no handler", () => {
    for (const contract of [
      "rpc/MarketDataStream.ts",
      "client/client.ts",
      "client/rpc.ts",
      "client/signing/signing.ts",
      "client/stream.ts"
    ]) {
      const loaded = [...closure(contract)]
      assert.isAbove(loaded.length, 5)
      assert.deepStrictEqual(
        loaded.filter((name) => name.startsWith("node:") || name.startsWith("@effect/") || name.endsWith("Live.ts")),
        []
      )
    }
  })

  it("the sandbox is imported by its program, itself and tests only", () =>
    assert.deepStrictEqual(
      sources
        .filter(
          ({ path, imports }) =>
            !/^(sandbox|test|bench)\/|^src\/(Sandbox|Demo|Deploy)\.ts$/.test(path) &&
            imports.some((name) => name.startsWith("#sandbox/"))
        )
        .map(({ path }) => path),
      []
    ))

  it("tests are imported by tests only", () =>
    assert.deepStrictEqual(
      sources
        .filter(({ path, imports }) => !path.startsWith("test/") && imports.some((name) => name.startsWith("#test/")))
        .map(({ path }) => path),
      []
    ))
})

describe("house rules", () => {
  it("only Config reads the environment", () =>
    assert.deepStrictEqual(
      uses(/\bprocess\.env\b/, /^(src\/Config\.ts|sandbox\/WorldConfig\.ts)$|^(test|bench)\//),
      []
    ))

  it("time and randomness come from Effect's services", () =>
    assert.deepStrictEqual(uses(/\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b/, /^(test|bench)\//), []))

  it("imports name a file with its ending, from the root", () =>
    assert.deepStrictEqual(
      sources
        .filter(({ path }) => !path.startsWith("migrations/"))
        .flatMap(({ imports, path }) =>
          imports
            .filter((name) => !/^#.*\.(?:ts|mjs|json)$|^[^#.]|^\.\.\/package\.json$/.test(name))
            .map((name) => `${path} -> ${name}`)
        ),
      []
    ))

  it("no folder holds more than 25 files of its own", () => {
    const files = Map.groupBy(sources, ({ path }) => path.slice(0, path.lastIndexOf("/")))
    const full = [...files].filter(([folder, { length }]) => length > 25 && !(folder in large))
    assert.deepStrictEqual(
      full.map(([folder, { length }]) => `${folder}: ${length}`),
      []
    )
  })
})
