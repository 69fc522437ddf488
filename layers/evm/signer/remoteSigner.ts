/**
 * A key behind a service, in the manner of a key management service: it is sent a digest with what the digest stands
 * for, and its own rules decide whether it signs.
 *
 * `POST` with a bearer token and `{keyId, digest, context}`, where context is as in domain/relay/Signer.ts; the answer
 * is
 * `{signature}`, 65 bytes `r ++ s ++ v` in hex, or a status of 403 with `{reason}` when its rules refuse. A signature
 * is used only when it is the configured key's.
 */
import { Duration, Effect, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { type Hex, parseSignature, recoverAddress, serializeSignature } from "viem"
import { type Signer, SignerUnavailable, type SigningContext } from "#domain/relay/Signer.ts"
import { fromViem } from "#layers/evm/address.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"

const answerLimit = Duration.seconds(5)
const maxBytes = 64 * 1024
const longestReason = 200

const Answer = Schema.Struct({ signature: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{130}$/u)) })
const Refusal = Schema.Struct({ reason: Schema.String })

/** Order of secp256k1. Of `s` and its negative the chain takes the lower one (EIP-2); key services answer either. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Brings a signature to the lower `s`; undefined when it is none. */
const canonical = (signature: string): Hex | undefined => {
  try {
    const { r, s, yParity } = parseSignature(signature.toLowerCase() as Hex)
    const value = BigInt(s)
    return value * 2n <= order
      ? serializeSignature({ r, s, yParity })
      : serializeSignature({
          r,
          s: `0x${(order - value).toString(16).padStart(64, "0")}`,
          yParity: 1 - yParity
        })
  } catch {
    return undefined
  }
}

export const remoteSigner = Effect.fnUntraced(function* (config: Extract<SignerConfig, { kind: "remote" }>) {
  const { address, keyId, token, url } = config
  const http = yield* HttpClient.HttpClient
  const refuse = (reason: string) => new SignerUnavailable({ address, reason })

  const ask = (digest: string, context: SigningContext) =>
    HttpClientRequest.post(url).pipe(
      HttpClientRequest.bearerToken(Redacted.value(token)),
      HttpClientRequest.bodyJsonUnsafe({ keyId, digest, context }),
      http.execute,
      Effect.mapError(() => refuse("it cannot be reached")),
      Effect.flatMap((response) => {
        if (response.status === 200)
          return Effect.mapError(boundedJson(Answer, maxBytes)(response), () => refuse("its answer is not readable"))
        if (response.status !== 403) return Effect.fail(refuse(`it answered status ${response.status}`))
        return boundedJson(
          Refusal,
          maxBytes
        )(response).pipe(
          Effect.match({ onFailure: () => "no reason given", onSuccess: ({ reason }) => reason }),
          Effect.flatMap((reason) => Effect.fail(refuse(`its rules refuse: ${reason.slice(0, longestReason)}`)))
        )
      }),
      withinRealTime(answerLimit, () => refuse(`no answer in ${Duration.format(answerLimit)}`)),
      // A redirect would send the token to another host.
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )

  const sign = Effect.fn("RemoteSigner.sign")(function* (digest: string, context: SigningContext) {
    const { signature } = yield* ask(digest, context)
    const lower = canonical(signature)
    const signedBy =
      lower === undefined
        ? undefined
        : yield* Effect.promise(() => recoverAddress({ hash: digest as Hex, signature: lower }).catch(() => undefined))
    if (lower === undefined || signedBy === undefined || fromViem(signedBy) !== address)
      return yield* refuse("its signature is not that of the configured key")
    return lower as string
  })

  const signer: Signer = { address, sign }
  return signer
})
