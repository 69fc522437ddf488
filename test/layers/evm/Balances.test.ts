import { assert, describe, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Metric, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { addressOf, type AssetId, erc20, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { Chains } from "#domain/chain/Chains.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { type CountingProxy, countingProxy } from "#test/layers/evm/countingProxy.ts"
import {
  asset,
  chainIdOf,
  configFor,
  EvmWorld,
  fund,
  stranger,
  adapterFor,
  patientAdapter,
  mine
} from "#test/layers/evm/EvmWorld.ts"

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
  Layer.provide(NoAttestor),
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
  layer(overProxies, { excludeTestServices: true })((it) => {
    it.effect("reads any number of balances and their block in one request", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const balances = yield* Balances
        for (const chain of [base, arbitrum]) {
          const { requests } = (yield* Proxies).of(chain)
          yield* fund(chain, stranger.address as string as EvmAddress, { symbol: "USDC", raw: 123_456_789n })
          const assetIds = chain.tokens.map(({ assetId }) => assetId)
          yield* balances.read(accountOn(chain), assetIds)
          const asked = requests.length
          const { balances: read, blockNumber, blockTime, native } = yield* balances.read(accountOn(chain), assetIds)
          assert.deepStrictEqual(requests.slice(asked), ["eth_call"])
          const wei = yield* Effect.promise(() => chain.client.getBalance({ address: stranger.address }))
          assert.deepStrictEqual(native, { assetId: nativeCoinOn(chainIdOf(chain))!.assetId, raw: wei })
          assert.isAbove(Number(wei), 0)
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

    it.effect("tokens say their decimals themselves, and what is no token says none", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const nothing = erc20(chainIdOf(base), Eip55.checksum(`0x${"7a".repeat(20)}`) as EvmAddress)
        const ids = base.tokens.map(({ assetId }) => assetId)
        const found = yield* (yield* TokenReader).decimals(chainIdOf(base), [...ids, nothing])
        assert.deepStrictEqual(
          [...found],
          [...base.tokens.map(({ assetId, decimals }) => [assetId, decimals] as const), [nothing, null]]
        )
      })
    )

    it.effect("are as deep as receipts, where more than one block must confirm them", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const patient = patientAdapter(base, 3)
        const account = evmAccount(chainIdOf(base), Eip55.checksum(`0x${"5e".repeat(20)}`) as EvmAddress)
        const read = Effect.gen(function* () {
          const { balances, blockNumber } = yield* (yield* Balances).read(account, [asset(base, "USDC")])
          return [balances[0]?.raw, blockNumber]
        }).pipe(Effect.provide(patient))
        yield* mine(base, 3)
        yield* fund(base, addressOf(account), { symbol: "USDC", raw: 7n })
        yield* mine(base)
        const funded = yield* Effect.promise(() => base.client.getBlockNumber({ cacheTime: 0 }))
        assert.deepStrictEqual(yield* read, [0n, funded - 2n])
        yield* mine(base, 2)
        assert.deepStrictEqual(yield* read, [7n, funded])
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

    it.effect("reads many accounts in one request, each as when it is read alone", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const balances = yield* Balances
        for (const chain of [base, arbitrum]) {
          const { requests } = (yield* Proxies).of(chain)
          const accounts = Array.from({ length: 40 }, (_, n) =>
            evmAccount(
              chainIdOf(chain),
              Eip55.checksum(`0x${(0xacc0000 + n).toString(16).padStart(40, "0")}`) as EvmAddress
            )
          )
          for (const [n, account] of accounts.slice(0, 5).entries())
            yield* fund(chain, addressOf(account), { symbol: n % 2 === 0 ? "USDC" : "WETH", raw: BigInt(1_000 + n) })
          const nowhere = `eip155:${chainIdOf(chain)}/erc20:0x00000000000000000000000000000000DeaDBeef` as AssetId
          const assetIds = [...chain.tokens.map(({ assetId }) => assetId), nowhere]
          // Different assets of different accounts, one of them without any.
          const wanted = accounts.map((account, n) => ({
            account,
            assetIds: assetIds.slice(n % (assetIds.length + 1))
          }))
          const asked = requests.length
          const together = yield* balances.readMany(chainIdOf(chain), wanted)
          assert.deepStrictEqual(requests.slice(asked), ["eth_call"])
          const alone = yield* Effect.forEach(wanted, ({ account, assetIds }) => balances.read(account, assetIds))
          assert.deepStrictEqual(together.map(Result.getOrThrow), alone)
          assert.strictEqual(alone[0]!.balances.find(({ raw }) => raw === 1_000n)?.assetId, asset(chain, "USDC"))
          assert.deepStrictEqual(yield* balances.readMany(chainIdOf(chain), []), [])
        }
      })
    )

    it.effect("splits what does not fit into one request, and fails the accounts of a failed request alone", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const balances = yield* Balances
        const proxy = (yield* Proxies).of(base)
        yield* fund(base, stranger.address as string as EvmAddress, { symbol: "WETH", raw: 5n })
        const raw = (yield* balances.read(accountOn(base), [asset(base, "WETH")])).balances[0]!.raw
        // Calls that are alike are made once, so all of these differ: tokens that are not there, WETH, and ether.
        const address = (n: number) => Eip55.checksum(`0x${(n + 1).toString(16).padStart(40, "7")}`) as EvmAddress
        const missing = Array.from({ length: 598 }, (_, n) => erc20(chainIdOf(base), address(n)))
        const wanted = Array.from({ length: 6 }, (_, n) => ({
          account: n === 0 ? accountOn(base) : evmAccount(chainIdOf(base), address(9_000 + n)),
          // One account alone is more than a request otherwise holds.
          assetIds: [...missing.slice(0, n === 3 ? 598 : n % 2 === 0 ? 198 : 298), asset(base, "WETH")]
        }))
        const asked = proxy.requests.length
        const read = yield* balances.readMany(chainIdOf(base), wanted)
        // 200 + 300, 200, 600, 200 + 300: an account is never split.
        assert.deepStrictEqual(
          proxy.requests.slice(asked),
          Array.from({ length: 4 }, () => "eth_call")
        )
        for (const [n, one] of read.entries()) {
          const { balances: held } = Result.getOrThrow(one)
          assert.strictEqual(held.length, wanted[n]!.assetIds.length)
          assert.strictEqual(held.at(-1)!.raw, n === 0 ? raw : 0n)
          assert.isTrue(held.slice(0, -1).every((balance) => balance.raw === null))
        }
        let answered = 0
        proxy.answer = () => (++answered === 1 ? { status: 400, body: "{}" } : undefined)
        const partly = yield* balances
          .readMany(chainIdOf(base), wanted)
          .pipe(Effect.ensuring(Effect.sync(() => (proxy.answer = undefined))))
        assert.isTrue(partly.some(Result.isSuccess))
        const failed = partly.filter(Result.isFailure)
        assert.isTrue(failed.length >= 1 && failed.length <= 2)
        assert.isTrue(failed.every(({ failure }) => failure._tag === "ChainUnavailable"))
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
        const measured = (yield* Metric.snapshot).filter(({ id }) => id === "rpc.client.call.duration")
        assert.deepInclude(
          measured.map(({ attributes }) => attributes),
          { "rpc.system.name": "jsonrpc", "rpc.method": "eth_call", "ballast.chain.id": "8453", unit: "s" }
        )
      })
    )

    it.effect("asks the next endpoint when one is down or serves another chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const config = configFor([base])
        const rpcUrls = ["http://127.0.0.1:1", arbitrum.rpcUrl, base.rpcUrl] as const
        const several = adapterFor({ ...config, chains: config.chains.map((chain) => ({ ...chain, rpcUrls })) })
        const read = Effect.flatMap(Balances, ({ read }) => read(accountOn(base), [asset(base, "USDC")]))
        const { balances } = yield* Effect.provide(read, several)
        assert.isNotNull(balances[0]!.raw)
      })
    )

    it.effect("refuses an endpoint that serves another chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const swapped = adapterFor(configFor([base], () => arbitrum.rpcUrl))
        const reason = yield* Effect.provide(unavailable(base), swapped)
        assert.include(reason, "serves chain 42161 where chain 8453 is configured")
      })
    )
  })
})
