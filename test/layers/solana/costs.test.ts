import { assert, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { type ChainId, chainIdOf, solanaChainId } from "#domain/values/Caip.ts"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaCosts } from "#layers/solana/SolanaCosts.ts"
import { baseUsdc } from "#test/support/assets.ts"

const base = chainIdOf(baseUsdc.assetId)
const fees = { percentile: 75, maxPriorityLamports: 10_000n }
const others = { operation: 7n, swap: 3n }

const costsOver = (recentFees: SolanaRpc["Service"]["recentFees"]) =>
  SolanaCosts.pipe(
    Layer.provide([
      Layer.succeed(ChainCosts, { read: () => Effect.succeedSome(others) }),
      Layer.mock(SolanaRpc, { each: [], recentFees }),
      Layer.mock(SolanaAgent, {
        signing: Effect.succeed({ agent: { key: Keypair.generate().publicKey } as Agent, fees })
      }),
      Layer.succeed(SolanaConfig, {
        rpcUrls: [Redacted.make("http://127.0.0.1:1")],
        agentSeed: Redacted.make(new Uint8Array(32)),
        fees,
        jupiter: { baseUrl: "", apiKey: null, requestsPerSecond: 1_000 }
      })
    ])
  )

const read = (chainId: ChainId) => Effect.flatMap(ChainCosts, (costs) => costs.read(chainId))

describe("What operations cost on Solana", () => {
  it.effect("is a signature and the priority of each swap, in 18 decimals; other chains are as they were", () =>
    Effect.gen(function* () {
      // 1,000 millionths of a lamport for each of 1,400,000 units.
      assert.deepStrictEqual(yield* read(solanaChainId), Option.some({ operation: 0n, swap: 6_400n * 1_000_000_000n }))
      assert.deepStrictEqual(yield* read(base), Option.some(others))
    }).pipe(Effect.provide(costsOver(() => Effect.succeed([1_000n, 1_000n]))))
  )

  it.effect("has no more priority than a transaction may pay", () =>
    Effect.gen(function* () {
      const { swap } = yield* Effect.flatMap(read(solanaChainId), Effect.fromOption)
      assert.isTrue(swap <= 15_000n * 1_000_000_000n && swap > 14_990n * 1_000_000_000n)
    }).pipe(Effect.provide(costsOver(() => Effect.succeed([10_000_000n]))))
  )

  it.effect("is not known while no node answers, and is asked for again", () => {
    let requests = 0
    const recentFees = () =>
      Effect.suspend(() => {
        requests += 1
        return requests === 1
          ? Effect.fail(new ChainUnavailable({ chainId: solanaChainId, reason: "no node answers" }))
          : Effect.succeed([0n])
      })
    return Effect.gen(function* () {
      assert.isTrue(Option.isNone(yield* read(solanaChainId)))
      assert.deepStrictEqual(yield* read(solanaChainId), Option.some({ operation: 0n, swap: 5_000n * 1_000_000_000n }))
      yield* read(solanaChainId)
      assert.strictEqual(requests, 2)
      yield* TestClock.adjust("61 seconds")
      yield* read(solanaChainId)
      assert.strictEqual(requests, 3)
    }).pipe(Effect.provide(costsOver(recentFees)))
  })
})
