/** `npm run catalogue -- refresh` as a program, against the stand-ins of the catalogue's sources. */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CatalogueSourcesLive } from "#layers/catalogue/refresh/CatalogueSourcesLive.ts"
import { describeChanges, isIncomplete } from "#layers/catalogue/refresh/describeChanges.ts"
import { compareCatalogue, writeCatalogue } from "#layers/catalogue/refresh/refreshCatalogue.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { IssuerStandIns } from "#test/layers/catalogue/refresh/IssuerStandIns.ts"

const root = join(import.meta.dirname, "../../../..")
const checkedIn = join(root, "layers/catalogue/tokens")

const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "ballast-catalogue-"))
    await cp(checkedIn, path, { recursive: true })
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

const textsOf = (path: string) =>
  Effect.promise(async () => {
    const names = (await readdir(path)).sort()
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), "utf8")] as const))
    )
  })

const edit = (path: string, name: string, change: (text: string) => string) =>
  Effect.promise(async () => {
    const file = join(path, name)
    const before = await readFile(file, "utf8")
    const after = change(before)
    assert.notStrictEqual(after, before)
    await writeFile(file, after)
  })

const run = Effect.fnUntraced(function* (path: string, ...flags: ReadonlyArray<string>) {
  const access = yield* IssuerStandIns
  const env = {
    ...process.env,
    UNISWAP_TOKEN_LIST: access.uniswapList!,
    ONDO_TOKEN_LIST: access.ondoList!,
    COINBASE_URL: access.coinbaseUrl!,
    XSTOCKS_URL: access.xStocksUrl!
  }
  const args = [join(root, "src/Catalogue.ts"), "refresh", "--folder", path, ...flags]
  return yield* Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly output: string; readonly problem: string }>((resolve) => {
        const child = execFile(process.execPath, args, { env }, (_, output, problem) =>
          resolve({ code: child.exitCode ?? -1, output, problem })
        )
      })
  )
})

/** The day of the program's clock. */
const today = (output: string) => /\+ .* since (\d{4}-\d\d-\d\d)$/mu.exec(output)?.[1] ?? "never"

/** Lines of what changes, without the counts. */
const changesIn = (output: string) => output.split("\n").filter((line) => /^ {2}[-+~?!]/u.test(line))

layer(IssuerStandIns.layer, { excludeTestServices: true })("npm run catalogue -- refresh", (it) => {
  it.effect("sources that say what is checked in change nothing", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { code, output } = yield* run(path, "--write")
      assert.deepStrictEqual(changesIn(output), [])
      assert.strictEqual(code, 0)
      assert.match(output, /ondo on eip155:1 .*: 15 tokens, unchanged/)
      assert.match(output, /dinari on eip155:42161 .*: kept by hand; its 9 tokens stay/)
      assert.match(output, /Written: nothing/)
      assert.deepStrictEqual(yield* textsOf(path), yield* textsOf(checkedIn))
    })
  )

  it.effect("shows what is added, removed and changed field by field, and writes nothing without --write", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* edit(path, "ondo.json", (text) =>
        text.replace(/ {8}\["TSLA", .*?0xf6b1.*?\],?\n/u, "").replace(/,(\s+\])/u, "$1")
      )
      yield* edit(path, "robinhood.json", (text) =>
        text
          .replace('"AMC", "AMC"', '"AMC", "AMCX"')
          .replace(
            '["ADBE"',
            '["ADBE", "ADBE", 18, "0x00000000000000000000000000000000000000AA", "2026-11-21"],\n        ["ADBE"'
          )
      )
      const before = yield* textsOf(path)
      const shown = yield* run(path)
      assert.deepStrictEqual(changesIn(shown.output), [
        `  + TSLA   TSLAon     18 0xf6b1117ec07684D3958caD8BEb1b302bfD21103f  since ${today(shown.output)}`,
        "  - ADBE   ADBE       18 0x00000000000000000000000000000000000000AA  since 2026-11-21",
        "  ~ AMC    0x05a3d1Cd21d0C88145E82600E62e7E496e0F222B  symbol: AMCX -> AMC"
      ])
      assert.match(shown.output, /Nothing is written without --write/)
      assert.deepStrictEqual(yield* textsOf(path), before)

      const written = yield* run(path, "--write")
      assert.strictEqual(written.code, 0)
      assert.match(written.output, /Written: .*ondo\.json, .*robinhood\.json$/mu)
      assert.deepStrictEqual(changesIn((yield* run(path)).output), [])
      // But for the days the files are those that are checked in.
      const withoutDays = (texts: Record<string, string>) =>
        Object.fromEntries(
          Object.entries(texts).map(([name, text]) => [
            name,
            text.replaceAll(/20\d\d-\d\d-\d\d/gu, "").replaceAll(/"what": .*/gu, "")
          ])
        )
      assert.deepStrictEqual(withoutDays(yield* textsOf(path)), withoutDays(yield* textsOf(checkedIn)))
    })
  )

  it.effect("refuses an answer without more tokens than may vanish at once, and says how to take it", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const extra = [1, 2, 3].map(
        (n) => `        ["GLXY", "X${n}c", 8, "0x000000000000000000000000000000000000000${n}", "2026-11-21"],\n`
      )
      yield* edit(path, "coinbase.json", (text) => text.replace('        ["AAPL"', `${extra.join("")}        ["AAPL"`))
      const before = yield* textsOf(path)
      const refused = yield* run(path, "--write")
      assert.strictEqual(refused.code, 1)
      assert.match(refused.output, /! REFUSED: 3 of 13 tokens would vanish, more than 10 percent.*--max-removed 24/)
      assert.match(refused.problem, /Not all sources were taken/)
      assert.deepStrictEqual(yield* textsOf(path), before)
      assert.strictEqual((yield* run(path, "--write", "--max-removed", "24")).code, 0)
      assert.notDeepEqual(yield* textsOf(path), before)
    })
  )

  it.effect("a program whose sources are down ends with an error and says which", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const faults = yield* Faults
      yield* faults.set("issuers", { mode: "down" })
      const { code, output, problem } = yield* run(path, "--write", "--max-removed", "100")
      yield* faults.set("issuers", { mode: "ok" })
      assert.strictEqual(code, 1)
      assert.match(output, /robinhood on .*NOT READ: .+; its 102 tokens stay/)
      assert.match(problem, /Not all sources were taken/)
      assert.deepStrictEqual(yield* textsOf(path), yield* textsOf(checkedIn))
    })
  )

  const changesOf = (path: string) =>
    Effect.gen(function* () {
      const sources = CatalogueSourcesLive(yield* IssuerStandIns)
      return yield* Effect.provide(compareCatalogue({ folder: path, maxRemovedPercent: 100 }), sources)
    }).pipe(Effect.provide(NodeServices.layer))

  for (const mode of ["unauthorized", "forbidden", "rate-limited", "error", "truncated", "down"] as const) {
    it.effect(`sources that answer "${mode}" leave all tokens as they are, and are named`, () =>
      Effect.gen(function* () {
        const path = yield* folder
        const faults = yield* Faults
        yield* faults.set("issuers", { mode })
        const changes = yield* changesOf(path)
        yield* faults.set("issuers", { mode: "ok" })
        const lines = describeChanges(changes).split("\n")
        for (const group of [/ondo on eip155:1 /, /coinbase on/, /xstocks on eip155:1 /, /robinhood on/])
          assert.match(lines.find((line) => group.test(line)) ?? "", /NOT READ: .+; its \d+ tokens stay/)
        assert.isTrue(isIncomplete(changes))
        assert.deepStrictEqual(yield* Effect.provide(writeCatalogue(changes), NodeServices.layer), [])
      })
    )
  }

  it.effect("a slow source is waited for", () =>
    Effect.gen(function* () {
      const faults = yield* Faults
      yield* faults.set("issuers", { mode: "slow", count: 2 })
      const changes = yield* changesOf(yield* folder)
      assert.isFalse(isIncomplete(changes))
      assert.deepStrictEqual(changesIn(describeChanges(changes)), [])
    })
  )
})
