/**
 * Quotes of swaps on Solana, by what Jupiter would build. It gives no price impact, so each quote is compared with that
 * of a hundredth of the amount. Quotes are independent of each other.
 */
import { Effect, Option, Result } from "effect"
import { addressOf, isErc20, solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Quote, QuoteRequest, VenueTerms } from "#domain/trading/Venue.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import type { ProviderUnavailable } from "#layers/provider/makeFind.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"

const bps = 10_000n
const sampleShare = 100n
/** Halves of an amount that its market does not take within the limits, until one is small enough or none is. */
const maxHalvings = 3
const maxAccounts = 40
const concurrency = 4
/**
 * Jupiter itself keeps nothing of a swap that it builds, and does not say what the pools of its route keep: that is in
 * the amount which it quotes. Source: developers.jup.ag, "Fees", "Build".
 */
const terms: VenueTerms = { venue: "jupiter", feeRaw: null, furtherFeeBps: 0 }
/**
 * What plans allow for the pools: most pairs trade in pools that keep 25 (Raydium) or 30 (Orca) basis points. Limits on
 * loss stand this much lower, and nothing else is said by it.
 */
export const assumedFeeBps = 30

/**
 * How much worse the whole amount is priced than an infinitely small part of it, in basis points, rounded up. A sample
 * has its own share of the impact, which is added.
 */
export const impactBps = (
  whole: { readonly inRaw: bigint; readonly outRaw: bigint },
  sample: { readonly inRaw: bigint; readonly outRaw: bigint }
): number => {
  const fair = sample.outRaw * whole.inRaw
  const paid = whole.outRaw * sample.inRaw
  if (paid >= fair) return 0
  const lost = (fair - paid) * bps * whole.inRaw
  const per = fair * (whole.inRaw - sample.inRaw)
  return Number((lost + per - 1n) / per)
}

const isWithin = ({ buyAmountRaw, priceImpactBps }: Quote, { atMost }: QuoteRequest, share: bigint): boolean =>
  atMost === undefined ||
  (priceImpactBps <= atMost.priceImpactBps && buyAmountRaw * share >= atMost.minRaw(terms.furtherFeeBps))

const build = Effect.fnUntraced(function* ({ buy, sell }: QuoteRequest, amountRaw: bigint) {
  const jupiter = yield* JupiterClient
  const { agent } = yield* (yield* SolanaAgent).signing
  const built = yield* jupiter.build({
    inputMint: addressOf(sell),
    outputMint: addressOf(buy),
    taker: agent.key.toBase58(),
    amountRaw,
    slippageBps: 0,
    maxAccounts
  })
  return { inRaw: amountRaw, outRaw: BigInt(built.outAmount) }
})

/** The whole amount, or the greatest of its halves that its market absorbs where the request allows it. */
const quoteOne = Effect.fnUntraced(function* (
  request: QuoteRequest
): Effect.fn.Return<Quote | null, ProviderUnavailable | ChainUnavailable, SolanaAgent | JupiterClient> {
  const { atMost, buy, sell, sellAmountRaw } = request
  if (isErc20(sell) || isErc20(buy) || sellAmountRaw <= 0n) return null
  const sampleRaw = sellAmountRaw / sampleShare
  const sample = sampleRaw === 0n ? undefined : yield* build(request, sampleRaw)
  const execution = { _tag: "Solana" } as const
  for (let halving = 0; halving <= (atMost === undefined ? 0 : maxHalvings); halving += 1) {
    const share = 1n << BigInt(halving)
    const amountRaw = sellAmountRaw / share
    if (amountRaw === 0n) break
    const whole = yield* build(request, amountRaw)
    const quote: Quote = {
      ...terms,
      buyAmountRaw: whole.outRaw,
      execution,
      priceImpactBps: sample === undefined ? 0 : impactBps(whole, sample)
    }
    if (isWithin(quote, request, share)) return halving === 0 ? quote : { ...quote, sellAmountRaw: amountRaw }
  }
  return { ...terms, buyAmountRaw: 0n, execution, priceImpactBps: 0, sellAmountRaw: 0n }
})

/** A pair that Jupiter does not answer about has no quote; when it answers about none, the chain is not traded on. */
export const quoteSwaps = Effect.fn("solana.quoteSwaps")(function* (requests: ReadonlyArray<QuoteRequest>) {
  const results = yield* Effect.forEach(requests, (request) => Effect.result(quoteOne(request)), { concurrency })
  const failure = results.find(Result.isFailure)?.failure
  if (failure !== undefined && results.every(Result.isFailure)) {
    return yield* new ChainUnavailable({ chainId: solanaChainId, reason: failure.reason })
  }
  return results.map((result) => Option.getOrNull(Result.getSuccess(result)))
})
