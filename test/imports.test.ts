/**
 * The rules of the house that a reader of one file cannot see: which folder may import which, and what only one place
 * may do. Source: docs/architecture.md, "The dependency rule".
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const folders = ["src", "client", "domain", "layers", "http", "rpc", "stream", "migrations", "sandbox", "bench", "test"]

interface Source {
  /** From the root, with `/`. */
  readonly path: string
  /** Without comments. */
  readonly code: string
  readonly lines: number
  /** Numbers of the lines that hold a comment alone and are wider than 120 columns. */
  readonly wide: ReadonlyArray<number>
  readonly imports: ReadonlyArray<string>
}

/** Folders above 25 files, and why they are not split. */
const large: Readonly<Record<string, string>> = {
  domain: "the values that every context knows; a folder of them would be a name for nothing",
  migrations: "their numbers are their order"
}

const stringOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
/** A line that is a comment or a part of one. */
const comment = /^\s*(?:\/\*|\*|\/\/)/
const importedModule = /(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g

const filesUnder = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.m?ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
  } catch {
    return []
  }
}

const read = (path: string): Source => {
  const text = readFileSync(join(root, path), "utf8")
  const lines = text.split("\n")
  const code = text.replaceAll(stringOrComment, (_, kept: string | undefined) => kept ?? "")
  return {
    path,
    code,
    lines: lines.length,
    wide: lines.flatMap((line, index) => (comment.test(line) && line.length > 120 ? [index + 1] : [])),
    imports: [...code.matchAll(importedModule)].map(([, name]) => name!)
  }
}

const sources = folders.flatMap(filesUnder).map(read)
const byPath = new Map(sources.map((source) => [source.path, source]))

const inFolder = (folder: string) => sources.filter(({ path }) => path.startsWith(`${folder}/`))

/** Every import of the sources that none of the patterns allows, as `file -> module`. */
const breaches = (
  among: ReadonlyArray<Source>,
  allowed: ReadonlyArray<RegExp>,
  also: Readonly<Record<string, RegExp>> = {}
) =>
  among.flatMap(({ path, imports }) =>
    imports
      .filter(
        (name) => ![...allowed, ...(also[path] === undefined ? [] : [also[path]])].some((pattern) => pattern.test(name))
      )
      .map((name) => `${path} -> ${name}`)
  )

const effect = /^effect(\/|$)/
const domain = /^#domain\//

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

/**
 * The contexts of the domain, each after all that it may import. The value types at the domain's root come before the
 * first. Source: docs/architecture.md, "Contexts".
 */
const contexts = [
  "identity",
  "request",
  "operation",
  "event",
  "webhook",
  "tenant",
  "asset",
  "chain",
  "market",
  "attestation",
  "marketData",
  "listing",
  "strategy",
  "account",
  "planning",
  "relay",
  "trading",
  "transfer",
  "portfolio",
  "performance",
  "discovery",
  "breakdown",
  "enrollment",
  "revocation",
  "policy",
  "withdrawal",
  "action",
  "rebalance",
  "monitor",
  "backtest",
  "execution",
  "stream"
]

/** The place of a module's context among them; -1 for the domain's root, undefined outside of the domain. */
const contextOf = (module: string): number | undefined => {
  const [, folder, file] = /^#?(?:domain|layers\/sql)\/([^/]+)(\/.*)?$/.exec(module) ?? []
  if (folder === undefined) return undefined
  return file === undefined ? -1 : contexts.indexOf(folder)
}

/** Files that import each other, directly or by way of others: one list for each circle. Types count as well. */
const circlesOf = (among: ReadonlyArray<Source>): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: Array<string> = []
  const circles: Array<ReadonlyArray<string>> = []
  const visit = (path: string): void => {
    order.set(path, order.size)
    lowest.set(path, order.get(path)!)
    open.push(path)
    for (const name of byPath.get(path)!.imports) {
      const next = name.slice(1)
      if (!name.startsWith("#") || !byPath.has(next)) continue
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(next)!))
    }
    if (lowest.get(path) !== order.get(path)) return
    const circle = open.splice(open.indexOf(path))
    if (circle.length > 1) circles.push(circle)
  }
  for (const { path } of among) if (!order.has(path)) visit(path)
  return circles
}

describe("imports", () => {
  it("there are sources to check", () => assert.isAbove(sources.length, 100))

  it("the domain imports effect and itself; Eip55 its hash besides", () =>
    assert.deepStrictEqual(
      breaches(inFolder("domain"), [effect, domain], { "domain/Eip55.ts": /^@noble\/hashes\// }),
      []
    ))

  it("every folder of the domain is a context", () =>
    assert.deepStrictEqual(
      [...new Set(inFolder("domain").flatMap(({ path }) => path.split("/").slice(1, -1).slice(0, 1)))].sort(),
      [...contexts].sort()
    ))

  it("the picture in docs/architecture.md has every context, and no arrow against their order", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
    const picture = /```mermaid\n([\s\S]*?)```/u.exec(page)![1]!.replaceAll(/^ *subgraph .*|"[^"]*"/gmu, "")
    const arrows = picture
      .split("\n")
      .flatMap((line) => [...line.matchAll(/(?<=(\w+)(?:\[\])? --> )(\w+)/gu)].map(([, from, to]) => [from!, to!]))
    assert.isAbove(arrows.length, contexts.length / 2)
    assert.deepStrictEqual(
      contexts.filter((context) => !new RegExp(`\\b${context}\\b`, "u").test(picture)),
      []
    )
    assert.deepStrictEqual(
      arrows.filter(([from, to]) => contexts.indexOf(from!) === -1 || contexts.indexOf(from!) >= contexts.indexOf(to!)),
      []
    )
  })

  it("a context imports only those before it, in the domain and in its stores", () =>
    assert.deepStrictEqual(
      [...inFolder("domain"), ...inFolder("layers/sql")].flatMap(({ imports, path }) => {
        const own = contextOf(path)
        if (own === undefined || (own === -1 && path.startsWith("layers/"))) return []
        return imports.filter((name) => (contextOf(name) ?? -1) > own).map((name) => `${path} -> ${name}`)
      }),
      []
    ))

  it("no files import each other, directly or by way of others", () => assert.deepStrictEqual(circlesOf(sources), []))

  it("adapters import the domain, each other and libraries", () =>
    assert.deepStrictEqual(breaches(inFolder("layers"), [domain, /^#layers\//, /^#migrations\//, /^[^#.]/]), []))

  for (const face of ["http", "stream"]) {
    it(`${face} imports the domain, itself and effect; the MCP server its protocol's SDK besides`, () =>
      assert.deepStrictEqual(
        breaches(inFolder(face), [effect, domain, new RegExp(`^#${face}/`)], {
          "http/mcp/McpLive.ts": /^@modelcontextprotocol\/sdk\//
        }),
        []
      ))
  }

  it("rpc imports the domain, itself and effect, and of http how executions are written and streams answered", () =>
    assert.deepStrictEqual(
      breaches(inFolder("rpc"), [
        effect,
        domain,
        /^#rpc\//,
        /^#http\/(docs\/DescribedProcedures\.ts$|v1\/(models|views)\/|streaming\/|ShutdownState\.ts$)/
      ]),
      []
    ))

  it("client imports contracts and clients of the other faces, the domain, itself, effect and viem", () =>
    assert.deepStrictEqual(
      breaches(inFolder("client"), [effect, domain, /^viem$/, /^#(?:client|http|rpc|stream)\/(?!.*Live\.ts$)/]),
      []
    ))

  it("viem is loaded by signing alone", () =>
    assert.deepStrictEqual(
      ["client/client.ts", "client/rpc.ts", "stream/client.ts"].filter((entry) => closure(entry).has("viem")),
      []
    ))

  it("contracts load nothing that a browser cannot, and no handler", () => {
    for (const contract of ["http/v1/Api.ts", "http/v2/Api.ts", "http/v2/client.ts", "http/admin/Admin.ts"]) {
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
      "stream/client.ts"
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
            !/^(sandbox|test|bench)\/|^src\/(Sandbox|Demo)\.ts$/.test(path) &&
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
      breaches(
        sources.filter(({ path }) => !path.startsWith("migrations/")),
        [/^#.*\.(ts|json)$/, /^[^#.]/, /^\.\.\/package\.json$/]
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

  it("comments end at 120 columns", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ path, wide }) => wide.map((line) => `${path}:${line}`)),
      []
    ))

  it("comments in Solidity end at 120 columns", () => {
    const contracts = ["contracts", "sandbox/contracts", "test/forge", "test/solidity"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".sol"))
        .map((path) => `${folder}/${path}`)
    )
    assert.isAbove(contracts.length, 20)
    assert.deepStrictEqual(
      contracts.flatMap((path) =>
        readFileSync(join(root, path), "utf8")
          .split("\n")
          .flatMap((line, index) => (comment.test(line) && line.length > 120 ? [`${path}:${index + 1}`] : []))
      ),
      []
    )
  })

  it("no file is above 400 lines", () =>
    assert.deepStrictEqual(
      sources.filter(({ lines }) => lines > 400).map(({ path }) => path),
      []
    ))
})
