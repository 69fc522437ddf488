/** Token lists held against contracts: wrong decimals, no contract, and a node that has nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, ChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { Strategies, type StrategyDraft } from "#domain/strategy/Strategies.ts"
import { allocationProblems } from "#domain/strategy/allocationRules.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { asTenant } from "#test/support/asTenant.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const base = ChainId.make(8453)
const listed: ReadonlyArray<Asset> = [baseUsdc, baseWeth, baseBtc]

/** What the chain says of each token; none where the node does not answer. */
const said = new Map<AssetId, number | null>()
let isDown = false
let asked = 0

const World = Strategies.layer.pipe(
  Layer.provideMerge(TokenChecks.layer),
  Layer.provide(Layer.succeed(Chains, { supported: [base] })),
  Layer.provide(
    Layer.mock(TokenReader, {
      decimals: (chainId, assetIds) => {
        asked += 1
        return isDown
          ? Effect.fail(new ChainUnavailable({ chainId, reason: "down" }))
          : Effect.succeed(new Map(assetIds.map((assetId) => [assetId, said.get(assetId) ?? null])))
      }
    })
  ),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(MovableClock.layer)
)

describe("token checks", () => {
  it.live("refuse what differs from the chain with its reason, count by the chain, and forgive what is put right", () =>
    Effect.gen(function* () {
      const clock = yield* MovableClock
      const [store, assets, checks] = [yield* AssetStore, yield* Assets, yield* TokenChecks]
      yield* store.upsertAssets(listed)
      const found = Effect.map(assets.onChain(base), (all) => new Map(all.map((asset) => [asset.assetId, asset])))

      isDown = true
      yield* checks.pass
      assert.isFalse((yield* found).get(baseUsdc.assetId)!.isBlocked, "a node that is down says nothing")
      isDown = false
      yield* checks.pass
      assert.isFalse((yield* found).get(baseUsdc.assetId)!.isBlocked, "a node without any token is no witness")

      said.set(baseUsdc.assetId, 6).set(baseBtc.assetId, 18)
      yield* checks.pass
      const known = yield* found
      assert.deepStrictEqual(known.get(baseUsdc.assetId), baseUsdc)
      const wrong = known.get(baseBtc.assetId)!
      assert.deepStrictEqual([wrong.decimals, wrong.isBlocked], [18, true], "its value is by the chain's decimals")
      const allocation = [{ assetId: baseBtc.assetId, weight: 10_000 }]
      const [problem] = allocationProblems(allocation, { supported: [base], known })
      assert.match(problem!, /the token list says 8 decimals, and its contract 18$/u)
      assert.match(known.get(baseWeth.assetId)!.refusal!, /^nothing at its address/u)

      said.set(baseWeth.assetId, 18).set(baseBtc.assetId, 8)
      clock.advance(4 * 60_000)
      yield* checks.pass
      assert.isTrue((yield* found).get(baseWeth.assetId)!.isBlocked)
      clock.advance(60_000)
      yield* checks.pass
      assert.deepStrictEqual(
        [...(yield* found).values()].filter(({ isBlocked }) => isBlocked),
        []
      )
    }).pipe(Effect.provide(World))
  )

  it.live("are made when a strategy first names a token, and a strategy waits for a chain that does not answer", () =>
    Effect.gen(function* () {
      const [store, checks] = [yield* AssetStore, yield* TokenChecks]
      const strategies = yield* Strategies
      yield* store.upsertAssets(listed)
      said.clear()
      said.set(baseUsdc.assetId, 6).set(baseWeth.assetId, 18).set(baseBtc.assetId, 18)
      const draft = (assetId: AssetId): StrategyDraft => ({
        name: "s",
        description: null,
        allocation: [
          { assetId, weight: 4_000 },
          { assetId: baseUsdc.assetId, weight: 6_000 }
        ],
        schedule: { type: "interval", frequency: "daily" },
        swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
        isPublic: false
      })
      const problemsOf = (assetId: AssetId) =>
        strategies.validate(draft(assetId)).pipe(
          asTenant("tn_01J00000000000000000000000" as TenantId),
          Effect.as([]),
          Effect.catchTag("ValidationFailed", ({ details = [] }) => Effect.succeed(details))
        )

      isDown = true
      const waiting = yield* problemsOf(baseWeth.assetId)
      assert.match(waiting.join(), /its chain has not said yet what it is.*its chain has not said yet what it is/u)
      isDown = false
      assert.isEmpty(yield* problemsOf(baseWeth.assetId))
      assert.match((yield* problemsOf(baseBtc.assetId)).join(), /the token list says 8 decimals, and its contract 18$/u)
      const before = asked
      assert.isEmpty(yield* problemsOf(baseWeth.assetId))
      assert.isEmpty(yield* checks.ask(listed.map(({ assetId }) => assetId)))
      assert.strictEqual(asked, before, "what was asked about is known")
      yield* store.upsertAssets([{ ...baseWeth, name: "another" }])
      isDown = true
      assert.deepStrictEqual(yield* checks.ask([baseWeth.assetId]), [baseWeth.assetId], "an entry that changed is new")
      isDown = false
    }).pipe(Effect.provide(World))
  )
})
