/** Requests to Ondo Global Markets; each answer is checked against its request. Source: docs.ondo.finance. */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { isAddress, isAddressEqual } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { IssuerRefused, IssuerSilent } from "#domain/trading/Issuer.ts"
import { toViem } from "#layers/evm/address.ts"
import { OndoConfig } from "#layers/issuer/ondo/OndoConfig.ts"
import { OndoAttestation, OndoQuote, OndoRefusal, refusalStatuses } from "#layers/issuer/ondo/wire.ts"
import { makeFind } from "#layers/provider/makeFind.ts"

/** What is bought of Ondo, or sold to it. */
export interface OndoRequest {
  readonly chainId: ChainId
  /** Ondo's name of the chain. */
  readonly chain: string
  readonly symbol: string
  readonly token: EvmAddress
  readonly side: "buy" | "sell"
  /** Tokens, with 18 decimals. */
  readonly quantity: bigint
}

type OndoError = IssuerSilent | IssuerRefused

export class OndoClient extends Context.Service<
  OndoClient,
  {
    readonly soft: (request: OndoRequest) => Effect.Effect<OndoQuote, OndoError>
    readonly attest: (request: OndoRequest) => Effect.Effect<OndoAttestation, OndoError>
  }
>()("ballast/layers/issuer/ondo/OndoClient") {
  static readonly layer = Layer.effect(
    OndoClient,
    Effect.gen(function* () {
      const { apiKey, baseUrl } = yield* OndoConfig
      const ask = yield* makeFind({
        name: "Ondo",
        baseUrl,
        headers: apiKey === null ? {} : { "x-api-key": Redacted.value(apiKey) },
        refusedKey: "check ONDO_API_KEY",
        concurrentRequests: 8,
        answerLimit: Duration.seconds(4),
        maxBytes: 64 * 1024,
        longestPause: Duration.minutes(5),
        pauseHeaders: ["retry-after"],
        transientStatuses: [],
        answeredStatuses: refusalStatuses
      })

      const post = Effect.fnUntraced(function* <S extends Schema.Codec<OndoQuote, unknown>>(
        path: string,
        request: OndoRequest,
        schema: S
      ) {
        if (apiKey === null) return yield* new IssuerSilent({ reason: "Ondo is not used; set ONDO_API_KEY" })
        const { chain, quantity, side, symbol } = request
        const body = { chainId: chain, symbol, side, tokenAmount: Decimal.format(quantity, 18), duration: "short" }
        const answer = yield* ask({ path, schema: Schema.Union([schema, OndoRefusal]) }, body).pipe(
          Effect.mapError(({ reason }) => new IssuerSilent({ reason }))
        )
        if (Option.isNone(answer)) return yield* new IssuerSilent({ reason: "Ondo answered 404" })
        const { value } = answer
        if (isRefusal(value)) {
          const reason = `Ondo does not make the trade now: ${value.code}, ${value.message.slice(0, 200)}`
          return yield* value.code === "RATE_LIMITED" ? new IssuerSilent({ reason }) : new IssuerRefused({ reason })
        }
        const fault = faultOf(request, value)
        if (fault === undefined) return value
        yield* Effect.logWarning(`An answer of Ondo was refused: ${fault}`)
        return yield* new IssuerRefused({ reason: `Ondo's answer does not match the request: ${fault}` })
      })

      const soft = Effect.fn("OndoClient.soft")((request: OndoRequest) =>
        post("/v1/attestations/soft", request, OndoQuote)
      )

      const attest = Effect.fn("OndoClient.attest")(function* (request: OndoRequest) {
        const attestation = yield* post("/v1/attestations", request, OndoAttestation)
        const left = attestation.expiration - Math.floor((yield* Clock.currentTimeMillis) / 1000)
        if (left < minSeconds || left > maxSeconds) {
          return yield* new IssuerRefused({
            reason: `Ondo's signedQuote would hold for ${left} seconds, which is not usable`
          })
        }
        return attestation
      })

      return OndoClient.of({ soft, attest })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}

/** An offer that ends sooner will not reach the chain; one that holds for longer is not of the requested duration. */
const minSeconds = 5
const maxSeconds = 3_600

const isRefusal = (answer: OndoQuote | OndoRefusal): answer is OndoRefusal => Schema.is(OndoRefusal)(answer)

/** What is wrong with an answer; undefined when nothing is. */
const faultOf = ({ chainId, quantity, side, symbol, token }: OndoRequest, answer: OndoQuote): string | undefined => {
  if (answer.chainId !== String(chainId)) return "it is for another chain"
  if (answer.symbol !== symbol) return "it is about another symbol"
  if (!isAddress(answer.assetAddress, { strict: false }) || !isAddressEqual(answer.assetAddress, toViem(token)))
    return "it is about another token"
  if (answer.side !== (side === "buy" ? "0" : "1")) return "it is for the other side"
  if (BigInt(answer.tokenAmount) !== quantity) return "it is for another amount"
  return BigInt(answer.price) > 0n ? undefined : "its price is zero"
}
