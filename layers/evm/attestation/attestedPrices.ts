/**
 * The attested prices that an operation under a guard needs: which of its tokens have no feed on the chain, and what
 * the attestor signs for them. Nothing of the answer is used that the chain would not accept.
 */
import { Array, Clock, Duration, Effect, Result } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { refusalOf } from "#domain/attestation/judgePrice.ts"
import {
  type Attestations,
  PriceAttestor,
  RefusalCode,
  type RefusedPrice,
  type SignedPrice
} from "#domain/attestation/PriceAttestor.ts"
import { attestorOf, type PriceDomain } from "#layers/evm/attestation/priceDigest.ts"
import { type AttestedReading, readAttested } from "#layers/evm/attestation/readAttested.ts"

export interface AttestedPrices {
  readonly signed: ReadonlyMap<EvmAddress, SignedPrice>
  /** Tokens that need a price and have none. */
  readonly refused: ReadonlyArray<RefusedPrice>
}

/**
 * How long a token with a feed is not read again. A change of the registry shows as a failed simulation till
 * then.
 */
const knownFor = Duration.toMillis(Duration.minutes(1))
const maxKnown = 20_000

const nothingNeeded: AttestedPrices = { signed: new Map(), refused: [] }

/** What the attestor answered, and what it is held against. */
interface AttestorAnswer {
  readonly domain: PriceDomain
  readonly reading: AttestedReading
  readonly answer: Attestations
}

const judge = Effect.fnUntraced(function* (
  token: EvmAddress,
  { answer, domain, reading: { attestor, now, tokens } }: AttestorAnswer
): Effect.fn.Return<Result.Result<SignedPrice, RefusedPrice>> {
  const invalid = (reason: string) => Result.fail({ token, code: RefusalCode.invalid, reason })
  const price = answer.signed.find((one) => one.token === token)
  if (price === undefined) {
    const refused = answer.refused.find((one) => one.token === token)
    return refused === undefined ? invalid("the attestor's answer leaves it out") : Result.fail(refused)
  }
  const refusal = refusalOf(tokens.get(token)!, price, now)
  if (refusal !== undefined) return Result.fail({ token, ...refusal })
  const signer = yield* Effect.promise(() => attestorOf(domain, price))
  return signer === attestor
    ? Result.succeed(price)
    : invalid(`the price is signed by ${signer ?? "nobody"}, the chain's attestor is ${attestor}`)
})

/** The attested prices of an operation's tokens, each once. */
export const makeAttestedPrices = Effect.gen(function* () {
  const attestor = yield* PriceAttestor
  const withFeed = new Map<string, number>()

  const cache = (key: string, now: number) => {
    withFeed.delete(key)
    withFeed.set(key, now + knownFor)
    for (const oldest of withFeed.keys()) {
      if (withFeed.size <= maxKnown) break
      withFeed.delete(oldest)
    }
  }

  return Effect.fnUntraced(function* (domain: PriceDomain, tokens: ReadonlyArray<EvmAddress>) {
    const { chainId, guard } = domain
    const keyOf = (token: EvmAddress) => `${chainId} ${guard} ${token}`
    const now = yield* Clock.currentTimeMillis
    const open = tokens.filter((token) => (withFeed.get(keyOf(token)) ?? 0) <= now)
    if (open.length === 0) return nothingNeeded
    const reading = yield* readAttested(domain, open)
    for (const token of open) if (!reading.tokens.has(token)) cache(keyOf(token), now)
    const wanted = [...reading.tokens.keys()]
    if (!Array.isArrayNonEmpty(wanted)) return nothingNeeded
    const answer = yield* attestor.attest({ chainId, guard, tokens: wanted, notAfter: reading.now })
    const judged = yield* Effect.forEach(wanted, (token) => judge(token, { domain, reading, answer }))
    const [signed, refused] = Array.separate(judged)
    const prices: AttestedPrices = { signed: new Map(signed.map((one) => [one.token, one])), refused }
    return prices
  })
})

export type AskAttested = Effect.Success<typeof makeAttestedPrices>
