import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { TokenListConfig } from "#layers/market/TokenListConfig.ts"
import { TokenLists } from "#layers/market/TokenLists.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

const folder = mkdtempSync(join(tmpdir(), "ballast-lists-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const list = (name: string, tokens: unknown) => {
  const path = join(folder, name)
  writeFileSync(
    path,
    JSON.stringify({ name, timestamp: "2026-01-01T00:00:00Z", version: { major: 1, minor: 0, patch: 0 }, tokens })
  )
  return path
}

const usdc = {
  chainId: 8453,
  address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6
}
const weth = {
  chainId: 8453,
  address: "0x4200000000000000000000000000000000000006",
  symbol: "WETH",
  name: "Wrapped Ether",
  decimals: 18
}
const usdcId = `eip155:8453/erc20:${usdc.address}` as AssetId

/** Loads lists into a catalogue and answers the catalogue. */
const load = (
  sources: ReadonlyArray<string>,
  options: { readonly blocked?: ReadonlyArray<AssetId>; readonly kept?: ReadonlyArray<Asset> } = {}
) => {
  const catalogue = new Map((options.kept ?? []).map((asset) => [asset.assetId, asset]))
  const store = {
    find: (ids: ReadonlyArray<AssetId>) =>
      Effect.sync(() => new Map([...catalogue].filter(([assetId]) => ids.includes(assetId)))),
    onChain: (chainId: ChainId) =>
      Effect.sync(() => [...catalogue.values()].filter((asset) => asset.chainId === chainId))
  }
  const upsertAssets = (assets: ReadonlyArray<Asset>) =>
    Effect.sync(() => {
      for (const asset of assets) catalogue.set(asset.assetId, asset)
    })
  const world = Layer.mergeAll(
    Layer.succeed(TokenListConfig, { sources, blocked: new Set(options.blocked ?? []) }),
    Layer.succeed(Chains, { supported: [8453 as ChainId] }),
    Layer.succeed(Assets, store),
    Layer.succeed(AssetStore, { ...store, upsertAssets })
  )
  return Layer.build(TokenLists).pipe(Effect.provide(world), Effect.scoped, Effect.as(catalogue))
}

describe("TokenLists", () => {
  it.effect("takes tokens of supported chains in their canonical spelling; the first list counts", () =>
    Effect.gen(function* () {
      const catalogue = yield* load([
        list("one", [
          { ...usdc, address: usdc.address.toLowerCase() },
          { ...usdc, chainId: 10 },
          { chainId: 501000101, address: "So1", symbol: "SOL" }
        ]),
        list("two", [
          { ...usdc, symbol: "FAKE" },
          weth,
          { ...weth, address: "0x4200" },
          { ...weth, symbol: "" },
          { ...weth, decimals: 1.5 },
          null
        ])
      ])
      assert.deepStrictEqual(
        [...catalogue.values()].map(({ symbol }) => symbol),
        ["USDC", "WETH"]
      )
      assert.deepStrictEqual(catalogue.get(usdcId), {
        assetId: usdcId,
        chainId: 8453 as ChainId,
        symbol: "USDC",
        name: "USD Coin",
        decimals: 6,
        isBlocked: false
      })
    })
  )

  it.effect("puts a wrong checksum right, as lists of issuers have them", () =>
    Effect.gen(function* () {
      const wrong = `0x833589FCD6${usdc.address.slice(12)}`
      assert.isFalse(Eip55.isValid(wrong))
      const catalogue = yield* load([list("checksums", [{ ...usdc, address: wrong }])])
      assert.deepStrictEqual([...catalogue.keys()], [usdcId])
    })
  )

  it.effect("blocks what is on the block list, listed or only kept", () =>
    Effect.gen(function* () {
      const kept: Asset = {
        assetId: usdcId,
        chainId: 8453 as ChainId,
        symbol: "USDC",
        name: "USD Coin",
        decimals: 6,
        isBlocked: false
      }
      assert.isTrue((yield* load([list("three", [usdc])], { blocked: [usdcId] })).get(usdcId)!.isBlocked)
      assert.isTrue((yield* load([list("four", [weth])], { blocked: [usdcId], kept: [kept] })).get(usdcId)!.isBlocked)
    })
  )

  it.effect("an unreadable list stops only a start with an empty catalogue", () =>
    Effect.gen(function* () {
      const missing = join(folder, "missing.json")
      writeFileSync(join(folder, "broken"), "{")
      const error = yield* Effect.flip(load([missing, join(folder, "broken"), list("five", "none")]))
      assert.strictEqual(error._tag, "TokenListsUnavailable")
      assert.include(error.message, `  - ${missing}: `)
      assert.include(error.message, `  - ${join(folder, "broken")}: `)
      const kept: Asset = {
        assetId: usdcId,
        chainId: 8453 as ChainId,
        symbol: "USDC",
        name: "USD Coin",
        decimals: 6,
        isBlocked: false
      }
      assert.strictEqual((yield* load([missing], { kept: [kept] })).size, 1)
      assert.strictEqual((yield* load([missing, list("six", [weth])])).size, 1)
    })
  )
})
