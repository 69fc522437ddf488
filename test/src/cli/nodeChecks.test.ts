/** What the doctor says of nodes: that they answer all that is asked of them, and what else will not work. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { type Chain, startChain } from "#sandbox/chain/Chain.ts"
import type { FaultSetting } from "#sandbox/faults/Faults.ts"
import { nodeChecks } from "#src/cli/doctor/nodeChecks.ts"
import { configFor } from "#test/layers/evm/EvmWorld.ts"
import { countingProxy } from "#test/layers/evm/countingProxy.ts"
import { nodesOf } from "#test/layers/evm/absence/nodes.ts"
import { patience } from "#test/support/suite/patience.ts"

class Base extends Context.Service<Base, Chain>()("ballast/test/src/cli/Base") {
  static readonly layer = Layer.effect(Base, startChain({ chainId: 8453 }))
}

const foundBehind = Effect.fnUntraced(function* (url: string) {
  const config = configFor([yield* Base], () => url)
  const clients = EvmClients.layer.pipe(Layer.provide(Layer.succeed(EvmConfig, config)))
  return yield* nodeChecks(config.chains[0]!, "endpoint 1 of 1").pipe(Effect.provide(clients))
})

/** The findings on the chain's first node, with a fault. */
const found = Effect.fnUntraced(function* (fault: FaultSetting) {
  const chain = yield* Base
  const { faults, url } = yield* nodesOf(chain)
  yield* faults.set(`rpc:${chain.chainId}`, fault)
  return (yield* foundBehind(url(chain, 1))).map(({ detail, status }) => [status, detail] as const)
})

const allMethods = ["ok", "endpoint 1 of 1 answers every method that is asked of it"] as const
const allStates = [
  ["ok", "endpoint 1 of 1 answers the state of 32 blocks ago"],
  ["ok", "endpoint 1 of 1 answers a call with a state override"]
] as const

const refusal = (message: string) => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } })
})

layer(Base.layer, { timeout: patience })("the doctor of nodes", (it) => {
  it.effect("finds nothing about one that answers every method, and searches wide ranges of logs", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found({ mode: "ok" }), [
        allMethods,
        ["ok", "endpoint 1 of 1 searches logs of 5000 blocks in one request"],
        ...allStates
      ])
    })
  )

  it.effect("says how many blocks a node takes in a search of logs, and what is not found where it takes none", () =>
    Effect.gen(function* () {
      const [methods, limited] = yield* found({ mode: "logrange", blocks: 10 })
      assert.deepStrictEqual(methods, allMethods)
      assert.strictEqual(limited![0], "warning")
      assert.include(limited![1], "searches logs of 10 blocks in one request, not 5000")
      const [, refused] = yield* found({ mode: "nologs" })
      assert.strictEqual(refused![0], "warning")
      assert.include(refused![1], "searches no logs: eth_getLogs: the node answered error -32005")
    })
  )

  it.effect("names each method that a node does not have, and what does not work without it", () =>
    Effect.gen(function* () {
      const proxy = yield* countingProxy((yield* Base).rpcUrl)
      const missing = ["eth_getTransactionReceipt", "eth_sendRawTransaction"]
      const error = { code: -32601, message: "the method does not exist" }
      proxy.answer = (method) =>
        missing.includes(method) ? { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, error }) } : undefined
      const problems = (yield* foundBehind(proxy.url)).filter(({ status }) => status === "problem")
      assert.deepStrictEqual(
        problems.map(({ detail }) => missing.find((method) => detail.includes(method))),
        missing
      )
      assert.include(problems[0]!.toDo, "no transaction is ever seen to land")
      assert.include(problems[1]!.toDo, "nothing is sent through it")
    })
  )

  it.effect("says what will not work where a node keeps few states, and where it takes none that is made up", () =>
    Effect.gen(function* () {
      const chain = yield* Base
      yield* Effect.promise(() => chain.client.mine({ blocks: 40 }))
      const proxy = yield* countingProxy(chain.rpcUrl)
      const head = yield* Effect.promise(() => chain.client.getBlockNumber({ cacheTime: 0 }))
      const isOld = (tag: unknown) => typeof tag === "string" && tag.startsWith("0x") && BigInt(tag) <= head - 32n
      proxy.answer = (method, params = []) => {
        const [, tag, override] = params
        if (method !== "eth_call") return undefined
        if (isOld(tag)) return refusal("missing trie node")
        return override === undefined ? undefined : refusal("too many arguments, want at most 2")
      }
      const found = yield* foundBehind(proxy.url)
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        ["ok", "ok", "warning", "warning"]
      )
      const [, , old, madeUp] = found
      assert.include(
        old!.detail,
        "does not answer the state of 32 blocks ago: eth_call: the node answered error -32000"
      )
      assert.include(old!.toDo, "earlier runs wait until another endpoint has it")
      assert.include(madeUp!.detail, "does not answer a call with a state override")
      assert.include(madeUp!.toDo, "until then it counts twice")
    })
  )

  it.effect("finds out that a node leaves an override out without an error", () =>
    Effect.gen(function* () {
      const proxy = yield* countingProxy((yield* Base).rpcUrl)
      proxy.answer = (method, params = []) =>
        method === "eth_call" && params[2] !== undefined
          ? { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x" }) }
          : undefined
      const found = yield* foundBehind(proxy.url)
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        ["ok", "ok", "ok", "warning"]
      )
      assert.include(found[3]!.detail, "StateOverrideIgnored")
    })
  )
})
