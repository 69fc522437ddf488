/**
 * Quotes of swaps on Solana, by what Jupiter would build. What it builds is checked as before a signature and must fit
 * into a transaction: what no step would sign has no quote. Quotes are independent of each other.
 */
import { PublicKey } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import { isErc20, solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Quote, QuoteRequest, VenueTerms } from "#domain/trading/Venue.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { compile, within } from "#layers/solana/lifecycle/prepare.ts"
import { unitsOfATransaction } from "#layers/solana/lifecycle/priorityFee.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import { isSol, wrap } from "#layers/solana/token/nativeSol.ts"
import { readMints } from "#layers/solana/token/readMints.ts"
import { untradable } from "#layers/solana/trading/checkSwap.ts"
import { findRoute, swapSteps } from "#layers/solana/trading/findRoute.ts"
import { minimumOfLeg } from "#layers/solana/trading/minimumAmount.ts"
import { claimedTables } from "#layers/solana/trading/readLookupTables.ts"

const bps = 10_000n
const sampleShare = 100n
/** Halves of an amount that its market does not take within the limits, until one is small enough or none is. */
const maxHalvings = 3
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

/** A sub-account of nobody: routes are built for an address of a program, as those that are signed later. */
const nobody: PortfolioRole = { walletId: new Uint8Array(32), roleId: 1 }
const { deposit, wallet } = addressesOf(nobody)

interface Pair {
  readonly sell: Mint
  readonly buy: Mint
}

/** Any blockhash has as many bytes. */
const blockhash = PublicKey.default.toBase58()

const build = Effect.fnUntraced(function* (pair: Pair, sellRaw: bigint) {
  const { agent } = yield* (yield* SolanaAgent).signing
  const leg = { ...pair, sellRaw, minBuyRaw: 0n }
  return yield* findRoute(
    { place: nobody, leg, slippageBps: 0, agent: agent.key },
    Effect.fnUntraced(function* ({ built, checked }) {
      const around = {
        wrapping: wrap(nobody, isSol(pair.sell.mint) ? sellRaw : 0n),
        least: minimumOfLeg({ ...leg, account: deposit, minBuyRaw: 1n }, { sellRaw: sellRaw + 1n, buyRaw: 0n })
      }
      const plan = {
        agent: agent.key,
        blockhash,
        steps: swapSteps(nobody, checked, around),
        lookupTables: claimedTables(built)
      }
      yield* compile(within(plan, { units: unitsOfATransaction, tag: wallet }, 1n))
      const { outAmount, priceImpactPct } = built
      return { inRaw: sellRaw, outRaw: BigInt(outAmount), statedImpact: priceImpactPct ?? undefined }
    })
  )
})

/** Impact in basis points, rounded up. */
const statedBps = (part: number): number => Math.min(Number(bps), Math.ceil(Math.max(0, part) * Number(bps)))

/** The price impact of a quote: as Jupiter states it, or else by the quote of a hundredth of the amount. */
const impactOf = Effect.fnUntraced(function* (pair: Pair, whole: Effect.Success<ReturnType<typeof build>>) {
  if (whole.statedImpact !== undefined) return statedBps(whole.statedImpact)
  const sampleRaw = whole.inRaw / sampleShare
  return sampleRaw === 0n ? 0 : impactBps(whole, yield* build(pair, sampleRaw))
})

/** The whole amount, or the greatest of its halves that its market absorbs where the request allows it. */
const quotePair = Effect.fnUntraced(function* (pair: Pair, request: QuoteRequest) {
  const { atMost, sellAmountRaw } = request
  const execution = { _tag: "Solana" } as const
  for (let halving = 0; halving <= (atMost === undefined ? 0 : maxHalvings); halving += 1) {
    const share = 1n << BigInt(halving)
    const amountRaw = sellAmountRaw / share
    if (amountRaw === 0n) break
    const whole = yield* build(pair, amountRaw)
    const priceImpactBps = yield* impactOf(pair, whole)
    const quote: Quote = { ...terms, buyAmountRaw: whole.outRaw, execution, priceImpactBps }
    if (isWithin(quote, request, share)) return halving === 0 ? quote : { ...quote, sellAmountRaw: amountRaw }
  }
  const none: Quote = { ...terms, buyAmountRaw: 0n, execution, priceImpactBps: 0, sellAmountRaw: 0n }
  return none
})

const noQuote = (reason: string) => Effect.as(Effect.logWarning("A swap on Solana has no quote", { reason }), null)

const quoteOne = Effect.fnUntraced(
  function* (request: QuoteRequest) {
    const { buy, sell, sellAmountRaw } = request
    if (isErc20(sell) || isErc20(buy) || sellAmountRaw <= 0n) return null
    const mints = yield* readMints([sell, buy])
    const pair = { sell: mints.get(sell)!, buy: mints.get(buy)! }
    const reason = untradable(pair.sell) ?? untradable(pair.buy)
    if (reason !== undefined) return yield* noQuote(reason)
    return yield* quotePair(pair, request)
  },
  Effect.catchTags({
    SimulationFailed: ({ reason }) => noQuote(reason),
    SwapRefused: ({ message }) => noQuote(message),
    TransactionDoesNotFit: ({ message }) => noQuote(message)
  })
)

/** A pair that Jupiter does not answer about has no quote; when it answers about none, the chain is not traded on. */
export const quoteSwaps = Effect.fn("solana.quoteSwaps")(function* (requests: ReadonlyArray<QuoteRequest>) {
  const results = yield* Effect.forEach(
    requests,
    (request) => Effect.result(Effect.tapError(quoteOne(request), ({ reason }) => noQuote(reason))),
    { concurrency }
  )
  const failure = results.find(Result.isFailure)?.failure
  if (failure !== undefined && results.every(Result.isFailure)) {
    return yield* new ChainUnavailable({ chainId: solanaChainId, reason: failure.reason })
  }
  return results.map((result) => Option.getOrNull(Result.getSuccess(result)))
})
