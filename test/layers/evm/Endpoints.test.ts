/** Several endpoints of one chain, of which one is down, answers nonsense, serves another chain, lags or lies. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { type CountingProxy, countingProxy } from "#test/layers/evm/countingProxy.ts"
import {
  batchOf,
  chainIdOf,
  configFor,
  EvmWorld,
  EvmWorldLive,
  execute,
  quotedSwap
} from "#test/layers/evm/EvmWorld.ts"
import { dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

/** A question that viem does not list among those of a test node. */
interface Asked {
  readonly Parameters: readonly [string]
  readonly ReturnType: { readonly logs: ReadonlyArray<unknown> }
}

const result = (value: unknown) => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: value }) })

/** The base chain behind the given endpoints, in their order. */
const configOver = (base: Chain, urls: readonly [string, ...ReadonlyArray<string>]) => {
  const config = configFor([base])
  return Layer.succeed(EvmConfig, { ...config, chains: [{ ...config.chains[0]!, rpcUrls: urls }] })
}

const clientsOver = (base: Chain, urls: readonly [string, ...ReadonlyArray<string>]) =>
  Layer.fresh(EvmClients.layer).pipe(Layer.provide(configOver(base, urls)))

/** The chain's block number by the clients of the deployment. */
const blockNumber = (base: Chain) =>
  Effect.flatMap(EvmClients, ({ request }) =>
    request(chainIdOf(base), "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
  )

const faults: ReadonlyArray<readonly [string, CountingProxy["answer"]]> = [
  ["answers an HTTP error", () => ({ status: 503, body: "overloaded" })],
  ["answers a page", () => ({ status: 200, body: "<html>welcome</html>" })],
  [
    "answers a JSON-RPC error",
    () => ({ status: 200, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit"}}` })
  ],
  ["answers what is no number", (method) => (method === "eth_blockNumber" ? result("soon") : undefined)],
  ["answers nothing", (method) => (method === "eth_blockNumber" ? result(undefined) : undefined)],
  ["serves another chain", (method) => (method === "eth_chainId" ? result("0x1") : undefined)]
]

describe("Several endpoints", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    for (const [fault, answer] of faults) {
      it.effect(`one that ${fault} is passed over`, () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const faulty = yield* countingProxy(base.rpcUrl)
          faulty.answer = answer
          const expected = yield* Effect.promise(() => base.client.getBlockNumber({ cacheTime: 0 }))
          const read = Effect.provide(blockNumber(base), clientsOver(base, [faulty.url, base.rpcUrl]))
          assert.strictEqual(yield* read, expected)
          assert.isTrue(faulty.requests.length > 0)
        })
      )
    }

    it.effect("one that does not answer is asked last for a while", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const faulty = yield* countingProxy(base.rpcUrl)
        faulty.answer = () => ({ status: 503, body: "" })
        yield* Effect.gen(function* () {
          yield* blockNumber(base)
          const asked = faulty.requests.length
          yield* Effect.replicateEffect(blockNumber(base), 5)
          assert.strictEqual(faulty.requests.length, asked)
        }).pipe(Effect.provide(clientsOver(base, [faulty.url, base.rpcUrl])))
      })
    )

    it.effect("all of them silent is a chain that is unavailable, without anything about their addresses", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const error = yield* Effect.flip(
          Effect.provide(
            blockNumber(base),
            clientsOver(base, ["http://127.0.0.1:1/secret-key", "http://127.0.0.1:2/other"])
          )
        )
        assert.strictEqual(error.reason, "eth_blockNumber: no connection")
      })
    )

    it.effect("a receipt from a block that is not the chain's is no receipt", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(51n)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        ])
        const { prepared, receipt, signed } = yield* execute(batch)
        const proxy = yield* countingProxy(base.rpcUrl)
        const services = Layer.fresh(EvmLive).pipe(
          Layer.provide(NoAttestor),
          Layer.provide(configOver(base, [proxy.url])),
          Layer.provide(SecureRandom.layerWebCrypto)
        )
        const shown: object = yield* Effect.promise(() =>
          base.client.request<Asked>({ method: "eth_getTransactionReceipt", params: [signed.txHash] })
        )
        yield* Effect.gen(function* () {
          const { find } = yield* ActionReceipts
          proxy.answer = (method) =>
            method === "eth_getTransactionReceipt" ? result({ ...shown, blockHash: `0x${"0b".repeat(32)}` }) : undefined
          assert.deepStrictEqual(yield* find(signed, prepared.accountId), Option.none())
          proxy.answer = undefined
          assert.deepStrictEqual(yield* find(signed, prepared.accountId), Option.some(receipt))
        }).pipe(Effect.provide(services))
      })
    )

    it.effect("one that lags or is down holds no receipt up, and one that hides or changes it stops the step", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(50n)
        const before = yield* Effect.promise(() => base.client.getBlockNumber({ cacheTime: 0 }))
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        ])
        const { prepared, receipt, signed } = yield* execute(batch)
        const other = yield* countingProxy(base.rpcUrl)
        const services = Layer.fresh(EvmLive).pipe(
          Layer.provide(NoAttestor),
          Layer.provide(configOver(base, [other.url, base.rpcUrl])),
          Layer.provide(SecureRandom.layerWebCrypto)
        )
        yield* Effect.gen(function* () {
          const { find } = yield* ActionReceipts
          const found = find(signed, prepared.accountId)
          assert.deepStrictEqual(yield* found, Option.some(receipt))

          const hidden = (method: string) =>
            method === "eth_getTransactionReceipt" ? result(null) : method === "eth_getLogs" ? result([]) : undefined
          other.answer = (method) =>
            method === "eth_blockNumber" ? result(`0x${before.toString(16)}`) : hidden(method)
          assert.deepStrictEqual(yield* found, Option.some(receipt))

          other.answer = () => ({ status: 503, body: "" })
          assert.deepStrictEqual(yield* found, Option.some(receipt))

          other.answer = hidden
          assert.include((yield* Effect.flip(found)).reason, "contradict")

          const shown: { readonly logs: ReadonlyArray<unknown> } = yield* Effect.promise(() =>
            base.client.request<Asked>({ method: "eth_getTransactionReceipt", params: [signed.txHash] })
          )
          other.answer = (method) =>
            method === "eth_getTransactionReceipt" ? result({ ...shown, logs: shown.logs.slice(-1) }) : undefined
          assert.include((yield* Effect.flip(found)).reason, "contradict")

          other.answer = undefined
          assert.deepStrictEqual(yield* found, Option.some(receipt))
        }).pipe(Effect.provide(services))
      })
    )
  })
})
