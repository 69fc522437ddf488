import { assert, describe, it } from "@effect/vitest"
import { MINT_SIZE } from "@solana/spl-token"
import { Keypair, PublicKey } from "@solana/web3.js"
import { Effect, Layer, Option } from "effect"
import { chainIdOf, solanaChainId, spl } from "#domain/values/Caip.ts"
import { PartJournal } from "#domain/relay/PartJournal.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { priceLeg } from "#domain/trading/priceLegs.ts"
import { swapResult } from "#domain/trading/swapResult.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { SolanaExecutionLive } from "#layers/solana/execution/SolanaExecutionLive.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { type BuiltSwap, JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { encodeRoute } from "#sandbox/solana/market/jupiterRoute.ts"
import { hopsOf } from "#sandbox/solana/market/splPools.ts"
import { baseUsdc } from "#test/support/assets.ts"

const usdc = spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
const sol = spl("So11111111111111111111111111111111111111112")

/** Jupiter gives a unit less for each thousand. */
const jupiter = Layer.mock(JupiterClient, {
  build: ({ amountRaw, inputMint, outputMint, taker }) => {
    const out = amountRaw - amountRaw / 1_000n
    const [from, to] = [splTokenOf(inputMint)!, splTokenOf(outputMint)!]
    const { data, keys, programId } = encodeRoute({
      form: "sharedAccounts",
      taker: new PublicKey(taker),
      hops: hopsOf(from, to),
      inAmount: amountRaw,
      quotedOutAmount: out,
      slippageBps: 0
    })
    const accounts = keys.map(({ pubkey, ...meta }) => ({ ...meta, pubkey: pubkey.toBase58() }))
    return Effect.succeed<BuiltSwap>({
      inputMint,
      outputMint,
      inAmount: amountRaw.toString(),
      outAmount: out.toString(),
      otherAmountThreshold: out.toString(),
      priceImpactPct: 0.001,
      setupInstructions: [],
      swapInstruction: { programId: programId.toBase58(), accounts, data: Uint8Array.from(data) },
      cleanupInstruction: null,
      otherInstructions: [],
      addressesByLookupTableAddress: null
    })
  }
})

/** Mints that nobody restricts. */
const accounts = (keys: ReadonlyArray<PublicKey>) =>
  Effect.succeed({
    slot: 1n,
    values: keys.map((key) => {
      const { decimals, program } = splTokenOf(key.toBase58())!
      const data = Buffer.alloc(MINT_SIZE)
      data.writeUInt8(decimals, 44)
      data.writeUInt8(1, 45)
      return Option.some({ owner: program, lamports: 1n, data: Uint8Array.from(data) })
    })
  })

const signing = {
  agent: { key: Keypair.generate().publicKey } as Agent,
  fees: { percentile: 75, maxPriorityLamports: 0n }
}

/** Other chains are traded on pools that keep 0.42 percent. */
const venues = SolanaExecutionLive.pipe(
  Layer.provide([
    Layer.mock(Venue, { assumedFeeBps: () => 42, quote: () => Effect.succeed([]) }),
    Layer.mock(SwapBatches, {}),
    Layer.mock(SolanaAgent, { signing: Effect.succeed(signing) }),
    Layer.mock(SolanaRpc, { each: [], accounts }),
    Layer.mock(PartJournal, {}),
    Layer.mock(UnrecordedTransactions, {}),
    jupiter
  ])
)

describe("The venue of Solana", () => {
  it.effect("is Jupiter, which does not say what the pools keep of a swap", () =>
    Effect.gen(function* () {
      const venue = yield* Venue
      const [quote] = yield* venue.quote({
        chainId: solanaChainId,
        connectorTokens: [],
        requests: [{ sell: usdc, buy: sol, sellAmountRaw: 1_000_000n }]
      })
      const leg = { sell: usdc, buy: sol, sellAmountRaw: 1_000_000n, valueUsd: 1n, expectedBuyRaw: 999_000n }
      const swap = yield* Effect.fromResult(priceLeg(leg, quote!, { slippageBps: 50, priceImpactBps: 100 }))
      const { by, feeRaw } = swapResult(swap, null)
      assert.deepStrictEqual({ by, feeRaw }, { by: "jupiter", feeRaw: null })
      assert.strictEqual(quote!.priceImpactBps, 10)
    }).pipe(Effect.provide(venues))
  )

  it.effect("leaves to the others what they take a swap on their chains to cost", () =>
    Effect.gen(function* () {
      const { assumedFeeBps } = yield* Venue
      assert.strictEqual(assumedFeeBps(chainIdOf(baseUsdc.assetId)), 42)
      assert.strictEqual(assumedFeeBps(solanaChainId), 30)
    }).pipe(Effect.provide(venues))
  )
})
