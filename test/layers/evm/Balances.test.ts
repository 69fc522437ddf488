import { assert, describe, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { type AssetId, evmAccount, type EvmAddress } from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import type { Chain } from "#sandbox/Chain.ts"
import { type CountingProxy, countingProxy } from "#test/layers/evm/countingProxy.ts"
import { asset, chainIdOf, configFor, EvmWorld, fund, stranger } from "#test/layers/evm/EvmWorld.ts"

class Proxies extends Context.Service<Proxies, { readonly of: (chain: Chain) => CountingProxy }>()(
  "ballast/test/Proxies"
) {
  static readonly layer = Layer.effect(
    Proxies,
    Effect.gen(function* () {
      const { arbitrum, base } = yield* EvmWorld
      const proxies = new Map([
        [base, yield* countingProxy(base.rpcUrl)],
        [arbitrum, yield* countingProxy(arbitrum.rpcUrl)]
      ])
      return Proxies.of({ of: (chain) => proxies.get(chain)! })
    })
  )
}

const overProxies = Layer.fresh(EvmLive).pipe(
  Layer.provide(
    Layer.effect(
      EvmConfig,
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const proxies = yield* Proxies
        return configFor([base, arbitrum], (chain) => `${proxies.of(chain).url}/key-of-the-endpoint`)
      })
    )
  ),
  Layer.provide(SecureRandom.layerWebCrypto),
  Layer.provideMerge(Proxies.layer),
  Layer.provideMerge(EvmWorld.layer)
)

const accountOn = (chain: Chain) => evmAccount(chainIdOf(chain), stranger.address as string as EvmAddress)

const unavailable = Effect.fnUntraced(function* (chain: Chain) {
  const balances = yield* Balances
  const error = yield* Effect.flip(balances.read(accountOn(chain), [asset(chain, "USDC")]))
  assert.strictEqual(error._tag, "ChainUnavailable")
  assert.notInclude(error.message, "key-of-the-endpoint")
  assert.notInclude(error.message, "127.0.0.1")
  return error.reason
})

describe("Balances", () => {
  layer(overProxies, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    it.effect("reads any number of balances and their block in one request", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const balances = yield* Balances
        for (const chain of [base, arbitrum]) {
          const { requests } = (yield* Proxies).of(chain)
          yield* fund(chain, stranger.address as string as EvmAddress, "USDC", 123_456_789n)
          const assetIds = chain.tokens.map(({ assetId }) => assetId)
          yield* balances.read(accountOn(chain), assetIds)
          const asked = requests.length
          const { balances: read, blockNumber, blockTime } = yield* balances.read(accountOn(chain), assetIds)
          assert.deepStrictEqual(requests.slice(asked), ["eth_call"])
          const block = yield* Effect.promise(() => chain.client.getBlock())
          assert.strictEqual(blockNumber, block.number)
          assert.strictEqual(DateTime.toEpochMillis(blockTime), Number(block.timestamp) * 1_000)
          assert.deepStrictEqual(
            read,
            assetIds.map((assetId) => ({ assetId, raw: assetId === asset(chain, "USDC") ? 123_456_789n : 0n }))
          )
        }
      })
    )

    it.effect("gives null for a token that does not answer, and the others nonetheless", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const balances = yield* Balances
        const erc20 = (address: string) => `eip155:8453/erc20:${address}` as AssetId
        const nowhere = erc20("0x00000000000000000000000000000000DeaDBeef")
        const noToken = erc20(base.contracts.factory)
        const { balances: read } = yield* balances.read(accountOn(base), [nowhere, asset(base, "WETH"), noToken])
        assert.deepStrictEqual(read, [
          { assetId: nowhere, raw: null },
          { assetId: asset(base, "WETH"), raw: 0n },
          { assetId: noToken, raw: null }
        ])
      })
    )

    it.effect("says why a chain is unavailable, never where its endpoint is", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const proxy = (yield* Proxies).of(base)
        const replying = (status: number, body: string) =>
          Effect.suspend(() => {
            proxy.answer = () => ({ status, body })
            return unavailable(base)
          }).pipe(Effect.ensuring(Effect.sync(() => (proxy.answer = undefined))))
        const result = (value: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 1, result: value })
        assert.strictEqual(yield* replying(503, "{}"), "eth_call: HTTP status 503")
        const limited = JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          error: { code: -32_005, message: "limit of https://node/abc reached" }
        })
        assert.strictEqual(
          yield* replying(200, limited),
          "eth_call: the node answered error -32005, limit of [endpoint] reached"
        )
        assert.include(yield* replying(200, result("0x")), "eth_call")
        assert.include(yield* replying(200, result("0x1234")), "eth_call")
        assert.include(yield* replying(200, "<html>"), "eth_call")
        const { blockNumber } = yield* Effect.flatMap(Balances, ({ read }) => read(accountOn(base), []))
        assert.isTrue(blockNumber > 0n)
        assert.deepStrictEqual((yield* Chains).supported, [chainIdOf(base), chainIdOf(arbitrum)])
      })
    )

    it.effect("measures every request by chain and method", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const balances = yield* Balances
        yield* balances.read(accountOn(base), [])
        const measured = (yield* Metric.snapshot).filter(({ id }) => id === "ballast_chain_request_duration")
        assert.deepInclude(
          measured.map(({ attributes }) => attributes),
          { chain: "8453", method: "eth_call", outcome: "ok", time_unit: "milliseconds" }
        )
      })
    )

    it.effect("asks the next endpoint when one is down or serves another chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const config = configFor([base])
        const rpcUrls = ["http://127.0.0.1:1", arbitrum.rpcUrl, base.rpcUrl] as const
        const several = Layer.fresh(EvmLive).pipe(
          Layer.provide(
            Layer.succeed(EvmConfig, { ...config, chains: config.chains.map((chain) => ({ ...chain, rpcUrls })) })
          ),
          Layer.provide(SecureRandom.layerWebCrypto)
        )
        const read = Effect.flatMap(Balances, ({ read }) => read(accountOn(base), [asset(base, "USDC")]))
        const { balances } = yield* Effect.provide(read, several)
        assert.isNotNull(balances[0]!.raw)
      })
    )

    it.effect("refuses an endpoint that serves another chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const swapped = Layer.fresh(EvmLive).pipe(
          Layer.provide(
            Layer.succeed(
              EvmConfig,
              configFor([base], () => arbitrum.rpcUrl)
            )
          ),
          Layer.provide(SecureRandom.layerWebCrypto)
        )
        const reason = yield* Effect.provide(unavailable(base), swapped)
        assert.include(reason, "serves chain 42161 where chain 8453 is configured")
      })
    )
  })
})
