/** Nodes of the sandbox that answer, and whose answers are not what the chain is. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { encodeFunctionData, erc20Abi } from "viem"
import { catalog } from "#sandbox/assets/catalog.ts"
import { type Chain, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { mint } from "#sandbox/chain/Faucet.ts"
import { nodesOf } from "#test/layers/evm/absence/nodes.ts"
import { patience } from "#test/support/suite/patience.ts"

class Base extends Context.Service<Base, Chain>()("ballast/test/sandbox/Base") {
  static readonly layer = Layer.effect(Base, startChain({ chainId: 8453 }))
}

const account = "0x52908400098527886E0F7030069857D2E4169EE7"
const { chainId } = catalog[0]!

interface Answer {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const world = Effect.gen(function* () {
  const chain = yield* Base
  const { faults, url } = yield* nodesOf(chain)
  const post = (endpoint: number, body: unknown) =>
    Effect.promise(() =>
      fetch(url(chain, endpoint), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      }).then((response) => response.json())
    )
  const ask = (endpoint: number, method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.map(post(endpoint, { jsonrpc: "2.0", id: 7, method, params }), (answer) => answer as Answer)
  const head = Effect.promise(() => chain.client.getBlockNumber({ cacheTime: 0 }))
  return { chain, faults, post, ask, head }
})

const hex = (block: bigint) => `0x${block.toString(16)}`

/** A transfer in the latest block, and where it is. */
const minted = Effect.fnUntraced(function* (chain: Chain) {
  const txHash = yield* mint(chain, account, { token: tokenBySymbol(chain, "USDC"), amountRaw: 1_000_000n })
  return yield* Effect.promise(() => chain.client.getTransactionReceipt({ hash: txHash }))
})

layer(Base.layer, { timeout: patience })("a node of the sandbox", (it) => {
  it.effect("that lags shows no receipt, log or state of the last blocks, and the chain's other node does", () =>
    Effect.gen(function* () {
      const { ask, chain, faults, head } = yield* world
      const receipt = yield* minted(chain)
      yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 2 })
      const at = yield* head
      const logs = { fromBlock: hex(receipt.blockNumber), toBlock: hex(at) }
      assert.strictEqual((yield* ask(1, "eth_blockNumber")).result, hex(at - 2n))
      assert.strictEqual((yield* ask(2, "eth_blockNumber")).result, hex(at))
      assert.isNull((yield* ask(1, "eth_getTransactionReceipt", receipt.transactionHash)).result)
      assert.isNotNull((yield* ask(2, "eth_getTransactionReceipt", receipt.transactionHash)).result)
      assert.deepStrictEqual((yield* ask(1, "eth_getLogs", logs)).result, [])
      assert.isNotEmpty((yield* ask(2, "eth_getLogs", logs)).result)
      assert.isNull((yield* ask(1, "eth_getBlockByNumber", hex(at), false)).result)
      assert.strictEqual(
        (yield* ask(1, "eth_call", { to: account, data: "0x" }, hex(at))).error?.message,
        "header not found"
      )
      assert.strictEqual(
        (yield* ask(1, "eth_getLogs", { blockHash: receipt.blockHash })).error?.message,
        "unknown block"
      )
      assert.isNotEmpty((yield* ask(2, "eth_getLogs", { blockHash: receipt.blockHash })).result)
      yield* faults.set(`rpc:${chainId}/1`, { mode: "ok" })
      assert.isNotNull((yield* ask(1, "eth_getTransactionReceipt", receipt.transactionHash)).result)
    })
  )

  it.effect("may be behind with balances alone: the head is the chain's, what accounts hold is not", () =>
    Effect.gen(function* () {
      const { ask, chain, faults, head } = yield* world
      const balance = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [account] })
      const held = (endpoint: number) =>
        Effect.map(
          ask(endpoint, "eth_call", { to: tokenBySymbol(chain, "USDC").address, data: balance }, "latest"),
          (answer) => BigInt(answer.result as string)
        )
      yield* minted(chain)
      const before = yield* held(1)
      yield* minted(chain)
      yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 1, of: ["state"] })
      assert.strictEqual((yield* ask(1, "eth_blockNumber")).result, hex(yield* head))
      assert.deepStrictEqual([yield* held(1), yield* held(2)], [before, before])
      yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
      assert.deepStrictEqual([yield* held(1), yield* held(2)], [before + 1_000_000n, before + 1_000_000n])
    })
  )

  it.effect("answers a share of requests by what is old, spread evenly", () =>
    Effect.gen(function* () {
      const { ask, faults, head } = yield* world
      const at = yield* head
      yield* faults.set(`rpc:${chainId}`, { mode: "stale", share: 0.25, blocks: 4 })
      const answers = yield* Effect.replicateEffect(ask(2, "eth_blockNumber"), 8)
      const [now, old] = [hex(at), hex(at - 4n)]
      assert.deepStrictEqual(
        answers.map(({ result }) => result),
        [now, now, now, old, now, now, now, old]
      )
      yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
    })
  )

  it.effect("invents a tip, refuses logs, and limits their ranges, in batches too", () =>
    Effect.gen(function* () {
      const { ask, faults, post } = yield* world
      yield* faults.set(`rpc:${chainId}/2`, { mode: "tip", tipWei: "9000000000" })
      assert.strictEqual((yield* ask(2, "eth_maxPriorityFeePerGas")).result, hex(9_000_000_000n))
      assert.notStrictEqual((yield* ask(1, "eth_maxPriorityFeePerGas")).result, hex(9_000_000_000n))
      const tipsOf = (node: 1 | 2) =>
        Effect.map(
          ask(node, "eth_feeHistory", "0x2", "latest", [50]),
          ({ result }) => (result as { readonly reward: ReadonlyArray<ReadonlyArray<string>> }).reward
        )
      assert.deepStrictEqual([...new Set((yield* tipsOf(2)).flat())], [hex(9_000_000_000n)])
      assert.notInclude((yield* tipsOf(1)).flat(), hex(9_000_000_000n))
      yield* faults.set(`rpc:${chainId}/2`, { mode: "nologs" })
      assert.strictEqual((yield* ask(2, "eth_getLogs", { fromBlock: "0x1", toBlock: "0x1" })).error?.code, -32005)
      yield* faults.set(`rpc:${chainId}/2`, { mode: "logrange", blocks: 5 })
      const logs = (toBlock: string) => ({
        jsonrpc: "2.0",
        method: "eth_getLogs",
        params: [{ fromBlock: "0x1", toBlock }]
      })
      const [wide, narrow] = (yield* post(2, [
        { ...logs("0x6"), id: 1 },
        { ...logs("0x5"), id: 2 }
      ])) as unknown as readonly [Answer, Answer]
      assert.deepStrictEqual([wide.id, wide.error?.code, narrow.id], [1, -32600, 2])
      assert.isArray(narrow.result)
      yield* faults.set(`rpc:${chainId}/2`, { mode: "ok" })
    })
  )
})
