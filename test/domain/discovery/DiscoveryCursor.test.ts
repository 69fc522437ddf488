import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as Cursor from "#domain/values/Cursor.ts"
import { decodePosition, type DiscoveryPosition, encodePosition } from "#domain/discovery/DiscoveryCursor.ts"
import { Sort } from "#domain/discovery/Sort.ts"
import { CursorInvalid } from "#domain/errors/Errors.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { after } from "#test/layers/sql/fixtures.ts"

const strategyId = "01JQ8ZKX4V6T3M9N2C5B7D8F0G" as StrategyId
const curated: DiscoveryPosition = { collection: "curated", position: 7 }
const ranked: DiscoveryPosition = { collection: "top_performing", sort: "users.desc", value: 3n, strategyId }

const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const wire = { l: "discovery", k: "top_performing", s: "tvl.desc", v: "1.5", i: strategyId }

const refuses = (collection: "curated" | "top_performing", cursor: string) =>
  Effect.map(Effect.flip(decodePosition(collection, cursor)), (error) => assert.instanceOf(error, CursorInvalid))

describe("DiscoveryCursor", () => {
  it.effect("comes back as it was, unknown and negative values and those of eighteen positions too", () =>
    Effect.gen(function* () {
      const positions = fc.sample(
        fc.oneof(
          fc.record({ collection: fc.constant("curated" as const), position: fc.integer({ min: 0, max: 1_000_000 }) }),
          fc.record({
            collection: fc.constant("top_performing" as const),
            sort: fc.constantFrom(...Sort.literals),
            value: fc.option(fc.bigInt({ min: -(10n ** 48n) + 1n, max: 10n ** 48n - 1n })),
            strategyId: fc.constant(strategyId)
          })
        ),
        300
      )
      for (const position of positions) {
        assert.deepStrictEqual<DiscoveryPosition>(
          yield* decodePosition(position.collection, encodePosition(position)),
          position
        )
      }
    })
  )

  it.effect("is of one collection only", () =>
    Effect.gen(function* () {
      yield* refuses("top_performing", encodePosition(curated))
      yield* refuses("curated", encodePosition(ranked))
    })
  )

  it.effect("is not a cursor of another list, nor made up", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* decodePosition("top_performing", text(wire))).value, 1_500_000_000_000_000_000n)
      const others = [
        "",
        "x",
        "%",
        "e30",
        "x".repeat(600),
        Cursor.encode("strategies", { createdAt: after(0), id: strategyId }),
        text({ ...wire, l: "strategies" }),
        text({ ...wire, s: "apy.desc" }),
        text({ ...wire, v: "1e9" }),
        text({ ...wire, v: "-Infinity" }),
        text({ ...wire, v: 1.5 }),
        text({ ...wire, i: "x" }),
        text({ l: "discovery", k: "curated", p: -1 }),
        text({ l: "discovery", k: "curated", p: 1.5 }),
        text({ l: "discovery", k: "curated" })
      ]
      for (const cursor of others) {
        yield* refuses("top_performing", cursor)
        yield* refuses("curated", cursor)
      }
    })
  )
})
