/** Files of a few lines that one other file reads have a reason, so that a reader does not follow crumbs. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const folders = ["src", "client", "domain", "layers", "http", "rpc", "stream", "sandbox", "bench", "test"]

/** Fewer lines than this are few. */
const fewLines = 30

/** Files that a reader searches under their kind, however small: the rule says which, and why. */
const conventions: ReadonlyArray<readonly [why: string, path: RegExp]> = [
  ["a port's adapter and a group's handlers have a file that is named after them", /Live\.ts$/],
  [
    "adapters of the domain's stores and its pruners, each by the name of what it keeps",
    /^layers\/sql\/.*\/[A-Z]\w*\.ts$|Pruner\.ts$/
  ],
  ["middleware of all requests, a file for each concern", /^http\/(?:middleware|serving)\//],
  ["contracts of routes, and how the domain's values are shown", /^http\/.*(?:Model|View)\.ts$|^http\/admin\/[A-Z]/],
  ["settings, a file for each group of them", /^src\/config\//],
  [
    "facts about assets and sources, a file for each table",
    /^layers\/catalogue\/classifications\/|^layers\/market\/issuers\//
  ],
  ["benchmarks, each by its name", /^bench\/[^/]+\.ts$/],
  ["invariants and ports of the simulator, each by its name", /^test\/simulation\/(?:invariants|ports)\//]
]

/** All others, with their reasons. */
const reasons: Readonly<Record<string, string>> = {
  "bench/http/drawPaths.ts":
    "its reader is a process that begins its work when it is loaded, and a test asks for the paths alone",
  "domain/order/boundStep.ts": "reads what a client sent of a provider's wire, apart from the rules of a swap",
  "domain/monitor/listedCandles.ts": "joins two contexts for a third, so none of their files is its place",
  "domain/operation/relaunchLost.ts": "launches operations of any kind, and its reader is the scheduler of rebalances",
  "domain/strategy/movedDueAt.ts": "a rule of the domain that a statement of a store applies",
  "domain/withdrawal/withdrawalRequestBytes.ts": "what an owner signs, byte by byte",
  "http/v1/executionFrames.ts": "a view",
  "layers/catalogue/LoadCatalogue.ts": "what a start does with the content, which much else reads",
  "layers/engine/SignalSteps.ts": "keeps the engine from knowing how executions are followed",
  "layers/engine/WorkflowRuntime.ts": "the engine without the domain's runs, which tests of the engine start",
  "layers/engine/cluster/RunHistory.ts": "a fiber of its own, beside the others of the cluster",
  "layers/market/platforms.ts": "a table that every new chain joins",
  "layers/solana/guard/signPlanned.ts": "nothing is signed but by it",
  "sandbox/solana/doomed.ts": "a fault that the control API names",
  "sandbox/solana/market/multiplierOf.ts": "the stand-in's own reading, apart from the service's",
  "sandbox/solana/solanaAddressOf.ts": "the stand-in's own reading, apart from the service's",
  "src/cli/doctor/clockFinding.ts": "one finding of the doctor",
  "src/service/Platform.ts": "the ground of the service, apart from what stands on it",
  "src/service/heapSettings.ts": "imported for its effect, before all else",
  "src/service/socketPlatform.ts": "tests serve sockets with it, without the service",
  "test/api/support/permission.ts": "its reader has no room for it below 400 lines",
  "test/support/AsListed.ts": "its reader has no room for it below 400 lines",
  "test/deploy/promql.ts": "how a query is read, apart from what is asked of it"
}

/** Lines of a comment do not count: an example there reads nothing. */
const importedModule = /^(?!\s*(?:\*|\/\/)).*?(?:\bfrom|\bimport)\s*\(?\s*"#([^"\n]+)"/gmu

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const text = readFileSync(path, "utf8")
      return {
        path: path.slice(root.length),
        lines: text.split("\n").length - 1,
        imports: new Set([...text.matchAll(importedModule)].map(([, name]) => name!))
      }
    })
)

/** Tests read what they test, so they count as readers of each other alone. */
const readersOf = (path: string) =>
  sources.filter(
    ({ imports, path: reader }) => imports.has(path) && (path.startsWith("test/") || !reader.startsWith("test/"))
  )

const small = sources
  .filter(({ lines, path }) => lines < fewLines && readersOf(path).length === 1)
  .map(({ path }) => path)

describe("small files", () => {
  it("a file of fewer than 30 lines that one file reads is one by convention, or has a reason", () =>
    assert.deepStrictEqual(
      small.filter((path) => !conventions.some(([, pattern]) => pattern.test(path))).toSorted(),
      Object.keys(reasons).toSorted()
    ))

  it("every convention has a file", () =>
    assert.deepStrictEqual(
      conventions.flatMap(([why, pattern]) => (small.some((path) => pattern.test(path)) ? [] : [why])),
      []
    ))
})
