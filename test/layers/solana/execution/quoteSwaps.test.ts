/** Quotes on Solana: what no step would sign has none. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { Effect, Layer, Redacted } from "effect"
import { type SplAssetId, spl } from "#domain/values/Caip.ts"
import { impactBps, quoteSwaps } from "#layers/solana/execution/quoteSwaps.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { installMints, pause, resume } from "#sandbox/solana/market/issuer.ts"
import { routeForms } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { type Built, type JupiterServer, startJupiter } from "#test/layers/solana/jupiterServer.ts"
import { fees, newAgent } from "#test/layers/solana/owners.ts"
import { startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

const dollars = 1_000_000_000n
const idOf = ({ mint }: SplToken): SplAssetId => spl(mint.toBase58())
const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
const [tesla, jup] = [named("TSLAx"), named("JUP")]

it("the impact of a quote is what the whole lost against an infinitely small part, rounded up", () => {
  // A pool of 10,000 and 10,000: 100 yield 99.0099, 1 yields 0.99990.
  const pool = (amount: bigint) => (10_000_000_000n * amount) / (10_000_000_000n + amount)
  const quoted = (inRaw: bigint) => ({ inRaw, outRaw: pool(inRaw) })
  assert.strictEqual(impactBps(quoted(100_000_000n), quoted(1_000_000n)), 100)
  assert.strictEqual(impactBps(quoted(1_000n), quoted(10n)), 0)
})

describe("quotes", () => {
  let chain: TestChain
  let jupiter: JupiterServer
  let agent: ReturnType<typeof newAgent>
  beforeAll(async () => {
    chain = await startTestChain()
    agent = newAgent(chain)
    installMints(chain.ledger)
    installMarket(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
    jupiter = await startJupiter(chain)
  })
  beforeEach(() => {
    jupiter.change = (built) => built
    jupiter.form = "ownAccounts"
  })
  afterAll(async () => {
    jupiter.close()
    await chain.close()
  })
  const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc | JupiterClient | SolanaAgent>) =>
    Effect.suspend(() =>
      Effect.provide(
        effect,
        Layer.mergeAll(
          SolanaRpc.layer([Redacted.make(chain.url)]),
          JupiterClient.layer({ baseUrl: jupiter.url, apiKey: null, requestsPerSecond: 1_000 }),
          Layer.succeed(SolanaAgent, { signing: Effect.succeed({ agent, fees }) })
        )
      )
    )

  it.live("what no step would sign has no quote, and leaves the other quotes of the plan", () =>
    run(
      Effect.gen(function* () {
        const requests = [tesla, jup].map((buy) => ({ sell: idOf(usdc), buy: idOf(buy), sellAmountRaw: dollars }))
        const forTesla = (change: (built: Built) => unknown) => {
          jupiter.change = (built) => (built.outputMint === tesla.mint.toBase58() ? change(built) : built)
        }
        const wide = Array.from({ length: 60 }, () => ({
          pubkey: Keypair.generate().publicKey.toBase58(),
          isSigner: false,
          isWritable: false
        }))
        const refusals: ReadonlyArray<(built: Built) => unknown> = [
          (built) => ({ ...built, tipInstruction: built.swapInstruction }),
          (built) => ({ ...built, cleanupInstruction: built.swapInstruction }),
          (built) => ({ ...built, setupInstructions: [built.swapInstruction] }),
          (built) => ({
            ...built,
            swapInstruction: { ...built.swapInstruction, accounts: [...built.swapInstruction.accounts, ...wide] }
          })
        ]
        for (const refusal of refusals) {
          forTesla(refusal)
          const [none, some] = yield* quoteSwaps(requests)
          assert.isNull(none)
          assert.isAbove(Number(some!.buyAmountRaw), 0)
        }
        jupiter.change = (built) => built
        pause(chain.ledger, tesla)
        const [paused] = yield* quoteSwaps(requests)
        resume(chain.ledger, tesla)
        assert.isNull(paused)
        for (const form of routeForms) {
          jupiter.form = form
          assert.isNotNull((yield* quoteSwaps(requests))[0])
        }
        jupiter.form = "ownAccounts"
      })
    )
  )

  it.live("a quote states its impact, and an amount that the market does not take is cut where it may be", () =>
    run(
      Effect.gen(function* () {
        const request = { sell: idOf(usdc), buy: idOf(tesla), sellAmountRaw: 10_000n * dollars }
        const [whole] = yield* quoteSwaps([request])
        const [small] = yield* quoteSwaps([{ ...request, sellAmountRaw: dollars }])
        assert.isAbove(whole!.priceImpactBps, small!.priceImpactBps)
        const within = { priceImpactBps: whole!.priceImpactBps - 1, minRaw: () => 0n }
        const [cut] = yield* quoteSwaps([{ ...request, atMost: { ...within, poolShareBps: 10_000, sold: [] } }])
        assert.strictEqual(cut!.sellAmountRaw, request.sellAmountRaw / 2n)
        assert.isBelow(cut!.priceImpactBps, whole!.priceImpactBps)
        jupiter.change = ({ priceImpactPct: _, ...built }) => built
        const [sampled] = yield* quoteSwaps([request])
        assert.approximately(sampled!.priceImpactBps, whole!.priceImpactBps, 2)
        jupiter.change = (built) => built
        const none = { ...within, priceImpactBps: 0, poolShareBps: 10_000, sold: [] }
        assert.strictEqual((yield* quoteSwaps([{ ...request, atMost: none }]))[0]!.sellAmountRaw, 0n)
        jupiter.change = () => undefined
        assert.strictEqual((yield* Effect.flip(quoteSwaps([request])))._tag, "ChainUnavailable")
      })
    )
  )
})
