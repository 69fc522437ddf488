/**
 * The attestor as a process of its own (src/PriceAttestor.ts): `POST /v1/attestations` with a bearer token and the
 * request of domain/attestation/PriceAttestor.ts. Whatever is no answer refuses every price.
 */
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import {
  AttestationRequest,
  Attestations,
  PriceAttestor,
  refuseAll,
  RefusalCode
} from "#domain/attestation/PriceAttestor.ts"
import type { AttestorChoice } from "#layers/attestor/AttestorConfig.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"

/** Longer than the attestor waits for its own sources. */
const answerLimit = Duration.seconds(12)
const maxBytes = 128 * 1024

const encode = Schema.encodeSync(AttestationRequest)

export const RemoteAttestor = ({ token, url }: Extract<AttestorChoice, { kind: "process" }>) =>
  Layer.effect(
    PriceAttestor,
    Effect.gen(function* () {
      const http = yield* HttpClient.HttpClient

      const ask = (request: AttestationRequest) =>
        HttpClientRequest.post(`${url}/v1/attestations`).pipe(
          HttpClientRequest.bearerToken(Redacted.value(token)),
          HttpClientRequest.bodyJsonUnsafe(encode(request)),
          http.execute,
          Effect.mapError(() => "the attestor cannot be reached"),
          Effect.flatMap((response) =>
            response.status === 200
              ? Effect.mapError(boundedJson(Attestations, maxBytes)(response), () => "its answer is not readable")
              : Effect.fail(`the attestor answered status ${response.status}`)
          ),
          withinRealTime(answerLimit, () => `the attestor gave no answer in ${Duration.format(answerLimit)}`),
          // A redirect would send the token to another host.
          Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
          Effect.provideService(HttpClient.TracerPropagationEnabled, false)
        )

      const attest = Effect.fn("RemoteAttestor.attest")((request: AttestationRequest) =>
        Effect.catch(ask(request), (reason) =>
          Effect.as(Effect.logWarning(reason), refuseAll(request, RefusalCode.unavailable, reason))
        )
      )

      return PriceAttestor.of({ attest })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
