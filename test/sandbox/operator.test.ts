/** The operator's sends, many at once: none is lost to another's nonce, and what a node refuses is sent again. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import {
  afterBridgeFee,
  depositsSince,
  payoutOf,
  quotedDeposit,
  spokePoolAbi,
  timeOf
} from "#sandbox/chain/spokePool.ts"
import { makeClient } from "#sandbox/chain/Anvil.ts"
import { BridgeWorker } from "#sandbox/chain/BridgeWorker.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { type Chain, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { mint } from "#sandbox/chain/Faucet.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { countingProxy } from "#test/layers/evm/countingProxy.ts"
import { patience } from "#test/support/suite/patience.ts"

class Chains extends Context.Service<Chains, { readonly base: Chain; readonly arbitrum: Chain }>()(
  "ballast/test/sandbox/Chains"
) {
  static readonly layer = Layer.effect(
    Chains,
    Effect.all(
      { base: startChain({ chainId: 8453 }), arbitrum: startChain({ chainId: 42161 }) },
      { concurrency: "unbounded" }
    )
  )
}

const account = "0x52908400098527886E0F7030069857D2E4169EE7"

/** Builds the chain as another process sees it: with a client, and so a queue, of its own. */
const seenByAnother = (chain: Chain, rpcUrl = chain.rpcUrl): Chain => ({
  ...chain,
  rpcUrl,
  client: makeClient(chain.chainId, rpcUrl)
})

const balanceOf = (chain: Chain, symbol: string, holder: Hex) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: tokenBySymbol(chain, symbol).address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [holder]
    })
  )

/** Deposits one dollar for the account on the other chain, as the operator. */
const depositDollar = Effect.fnUntraced(function* (source: Chain, destination: Chain) {
  const usdc = tokenBySymbol(source, "USDC")
  yield* mint(source, operator, { token: usdc, amountRaw: 1_000_000n })
  yield* operate(source.client, {
    what: "approve",
    to: usdc.address,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [source.contracts.bridge, 1_000_000n] })
  })
  const before = yield* depositsSince(source, 0n)
  yield* operate(source.client, {
    what: "deposit",
    to: source.contracts.bridge,
    data: quotedDeposit(
      {
        token: usdc.address,
        amount: 1_000_000n,
        destinationChainId: BigInt(destination.chainId),
        destinationToken: tokenBySymbol(destination, "USDC").address,
        outputAmount: afterBridgeFee(1_000_000n)
      },
      account,
      yield* timeOf(source)
    )
  })
  const { deposits } = yield* depositsSince(source, before.head + 1n)
  return deposits[0]!
})

/** How often each of the answers is given before the node answers by itself again. */
const refusals = [
  { status: 200, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"nonce too low"}}` },
  { status: 200, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"out of sorts"}}` },
  { status: 503, body: "" }
]

layer(Chains.layer, { timeout: 120_000, excludeTestServices: true })("the operator", (it) => {
  it.effect("sends hundreds of mints at once, also of two processes, and each of them succeeds", () =>
    Effect.gen(function* () {
      const { base } = yield* Chains
      const usdc = tokenBySymbol(base, "USDC")
      const before = yield* balanceOf(base, "USDC", account)
      const processes = [base, seenByAnother(base)]
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => processes[index % 2]!),
        (chain) => mint(chain, account, { token: usdc, amountRaw: 1n }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* balanceOf(base, "USDC", account)) - before, 200n)
    })
  )

  it.effect("says at once that a call reverts, and does not send it again", () =>
    Effect.gen(function* () {
      const { base } = yield* Chains
      const proxy = yield* countingProxy(base.rpcUrl)
      const failure = yield* Effect.flip(
        operate(seenByAnother(base, proxy.url).client, {
          what: "refund nothing",
          to: base.contracts.bridge,
          data: encodeFunctionData({ abi: spokePoolAbi, functionName: "refund", args: [999n] }),
          gas: 1_000_000n
        })
      )
      assert.include(failure.message, "revert")
      assert.lengthOf(proxy.requests, 1)
    })
  )

  it.effect("pays what a pool took although the node refuses the first sends", () =>
    Effect.gen(function* () {
      const { arbitrum, base } = yield* Chains
      const proxy = yield* countingProxy(arbitrum.rpcUrl)
      const left = [...refusals]
      proxy.answer = (method) => (method === "eth_sendTransactionSync" ? left.shift() : undefined)
      const all = [base, seenByAnother(arbitrum, proxy.url)]
      const chains = WorldChains.of({
        all,
        prices: base.prices,
        find: (chainId) => all.find((chain) => chain.chainId === chainId),
        setPrice: () => Effect.void,
        advanceTo: () => Effect.void,
        watch: Effect.never
      })
      yield* Layer.build(BridgeWorker.pipe(Layer.provide([Layer.succeed(WorldChains, chains), Faults.layer])))
      const deposit = yield* depositDollar(base, arbitrum)
      const payout = yield* payoutOf(arbitrum, "Filled", deposit).pipe(
        Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (found) => found !== null }),
        Effect.timeout(patience)
      )
      assert.strictEqual(payout?.amount, 999_500n)
      assert.deepStrictEqual(left, [])
    })
  )
})
