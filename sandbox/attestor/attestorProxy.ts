/**
 * The way from the service to the price attestor, with the faults that it may have: it is away, its prices are of long
 * ago, or somebody with its key signs prices of his own making.
 */
import { Effect, Schema } from "effect"
import { HttpBody, HttpClient, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { sign } from "viem/accounts"
import { AttestationRequest, Attestations, type SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import { attestorKey } from "#sandbox/chain/attestorKey.ts"
import { AttestorProcess } from "#sandbox/attestor/AttestorProcess.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** Older than any registry takes a price, in seconds. */
const longAgo = 2 * 3_600
/** How many times too high a lie is: beyond every step. */
const lie = 3n

const refusal = (status: number, message: string) =>
  HttpServerResponse.jsonUnsafe({ error: "refused", message }, { status })
const answers = { error: refusal(500, "Internal error"), rateLimited: refusal(429, "Too many requests") }

const Request = Schema.fromJsonString(AttestationRequest)
const Answer = Schema.fromJsonString(Attestations)

export const attestorProxy = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { baseUrl } = yield* AttestorProcess
    const faults = yield* Faults
    const client = yield* HttpClient.HttpClient
    const privateKey = attestorKey((yield* (yield* WorldFile).state).secrets.internalToken)

    const forged = Effect.fnUntraced(function* (
      asked: string,
      answered: string,
      change: (price: SignedPrice) => SignedPrice
    ) {
      const request = yield* Schema.decodeEffect(Request)(asked)
      const { refused, signed } = yield* Schema.decodeEffect(Answer)(answered)
      const forgeries = yield* Effect.forEach(signed.map(change), (price) =>
        Effect.map(
          Effect.promise(() => sign({ hash: priceDigest(request, price), privateKey, to: "hex" })),
          (signature) => ({ ...price, signature: signature as string })
        )
      )
      return yield* Schema.encodeEffect(Answer)({ signed: forgeries, refused })
    })

    const forward = Effect.fnUntraced(function* (change: ((price: SignedPrice) => SignedPrice) | undefined) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const asked = yield* request.text
      const response = yield* client.post(`${baseUrl}/v1/attestations`, {
        body: HttpBody.text(asked, "application/json"),
        headers: { authorization: request.headers["authorization"] ?? "" }
      })
      const text = yield* response.text
      const answered = change === undefined || response.status !== 200 ? text : yield* forged(asked, text, change)
      return HttpServerResponse.text(answered, { status: response.status, contentType: "application/json" })
    })

    const changes: Partial<Record<string, (price: SignedPrice) => SignedPrice>> = {
      stale: (price) => ({ ...price, time: price.time - longAgo }),
      lying: (price) => ({ ...price, price: price.price * lie })
    }

    yield* router.add(
      "POST",
      "/attestor/v1/attestations",
      Effect.gen(function* () {
        const mode = yield* faults.take("attestor")
        const answer = forward(changes[mode]).pipe(
          Effect.catch(() => Effect.succeed(refusal(502, "The price attestor does not answer")))
        )
        return yield* withFaults(mode, answers, answer)
      })
    )
  })
)
