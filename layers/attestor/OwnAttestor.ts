/**
 * The attestor itself: prices of two sources, the chain's own limits, and the key. A price is signed only where both
 * sources stand for it and the chain would take it, so an attestor that errs is silent rather than wrong.
 */
import { Array, Cache, Duration, Effect, Exit, Layer, Metric, Result } from "effect"
import { type AssetId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import { agreedPrice, refusalOf, type TimedPrice } from "#domain/attestation/judgePrice.ts"
import {
  type AttestationRequest,
  PriceAttestor,
  refuseAll,
  RefusalCode,
  type RefusedPrice,
  type SignedPrice
} from "#domain/attestation/PriceAttestor.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { AttestorSigners, type Signer } from "#domain/relay/Signer.ts"
import { AttestedGuards } from "#layers/attestor/AttestorConfig.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { type AttestedReading, readAttested } from "#layers/evm/attestation/readAttested.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { PriceCheck } from "#layers/market/PriceCheck.ts"

/** How long the first source's prices are cached. */
const secondLife = Duration.seconds(10)
const maxSeconds = 10_000
const concurrency = 8

/** A token whose price is requested, with the first source's price of it. */
interface AttestedToken {
  readonly token: EvmAddress
  readonly first: Price | undefined
}

/** A request, and the key whose signature its guard accepts. */
interface SigningRequest {
  readonly request: AttestationRequest
  readonly signer: Signer
}

export const OwnAttestor = Layer.effect(
  PriceAttestor,
  Effect.gen(function* () {
    const guards = yield* AttestedGuards
    const prices = yield* Prices
    const check = yield* PriceCheck
    const { keys } = yield* AttestorSigners
    const addresses = keys.map(({ address }) => address).join(" and ")
    const clients = yield* EvmClients

    const seconds = yield* Cache.makeWith((assetId: AssetId) => check.priceOf(assetId), {
      capacity: maxSeconds,
      timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? secondLife : Duration.zero)
    })

    const sign = ({ request, signer }: SigningRequest, token: EvmAddress, { price, time }: TimedPrice) => {
      const { chainId, guard } = request
      return signer
        .sign(priceDigest(request, { token, price, time }), {
          kind: "price",
          chainId,
          guard,
          token,
          price: String(price),
          time
        })
        .pipe(
          Effect.map((signature) => ({ token, price, time, signature: signature.toLowerCase() })),
          Effect.mapError(({ message }) => ({ token, code: RefusalCode.notSigned, reason: message.slice(0, 500) })),
          Effect.result
        )
    }

    const attestOne = Effect.fnUntraced(function* (
      signing: SigningRequest,
      { now, tokens }: AttestedReading,
      { first, token }: AttestedToken
    ): Effect.fn.Return<Result.Result<SignedPrice, RefusedPrice>> {
      const { request } = signing
      const attested = tokens.get(token)
      if (attested === undefined) {
        const reason = "the chain's registry does not list the token, or has a feed for it"
        return Result.fail({ token, code: RefusalCode.notWanted, reason })
      }
      const assetId = erc20(request.chainId, token)
      const hold = (second: bigint | undefined) =>
        agreedPrice(
          {
            first: { name: first?.source ?? "the first source", price: first },
            second: { name: check.source ?? "the second source", usd: second },
            toleranceBps: check.toleranceBps
          },
          Math.min(request.notAfter, now)
        )
      const cached = hold(yield* Cache.get(seconds, assetId))
      // A cached price is enough to agree; before a refusal the source is read anew.
      const isDispute = Result.isFailure(cached) && cached.failure.code === RefusalCode.sourcesDisagree
      const agreed = isDispute ? hold(yield* Cache.refresh(seconds, assetId)) : cached
      if (Result.isFailure(agreed)) return Result.fail({ token, ...agreed.failure })
      const refusal = refusalOf(attested, agreed.success, now)
      return refusal === undefined ? yield* sign(signing, token, agreed.success) : Result.fail({ token, ...refusal })
    })

    const attestAll = Effect.fnUntraced(function* (request: AttestationRequest) {
      const { chainId, guard, tokens } = request
      if (guards.get(chainId)?.includes(guard) !== true) {
        const reason = `this attestor does not sign for guard ${guard} of chain ${chainId}`
        return refuseAll(request, RefusalCode.unknownGuard, reason)
      }
      const reading = yield* Effect.provideService(readAttested(request, tokens), EvmClients, clients)
      const signer = keys.find(({ address }) => address === reading.attestor)
      if (signer === undefined) {
        const reason = `this attestor signs as ${addresses}, the chain's attestor is ${reading.attestor}`
        return refuseAll(request, RefusalCode.unknownGuard, reason)
      }
      const known = yield* prices.latest(tokens.map((token) => erc20(chainId, token)))
      const each = yield* Effect.forEach(
        tokens,
        (token) => attestOne({ request, signer }, reading, { token, first: known.get(erc20(chainId, token)) }),
        { concurrency }
      )
      const [signed, refused] = Array.separate(each)
      return { signed, refused }
    })

    const attest = Effect.fn("PriceAttestor.attest")((request: AttestationRequest) =>
      attestAll(request).pipe(
        Effect.catchTags({
          ChainUnavailable: ({ message }) =>
            Effect.succeed(
              refuseAll(request, RefusalCode.unavailable, `the attestor cannot read the chain: ${message}`)
            ),
          PricesUnavailable: ({ message }) => Effect.succeed(refuseAll(request, RefusalCode.sourceMissing, message))
        }),
        Effect.tap(({ refused, signed }) =>
          Effect.gen(function* () {
            yield* Metric.update(Metric.withAttributes(Metrics.attestations, { outcome: "signed" }), signed.length)
            for (const { code, reason, token } of refused) {
              yield* Metric.update(Metric.withAttributes(Metrics.attestations, { outcome: code }), 1)
              yield* Effect.logWarning("A price was not signed", { chainId: request.chainId, token, code, reason })
            }
          })
        )
      )
    )

    return PriceAttestor.of({ attest })
  })
)
