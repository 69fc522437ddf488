/** The routes of the price attestor's process: the prices that it signs, for callers with its token, and health. */
import { Context, Effect, Redacted, Schema, SchemaIssue, Semaphore } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isSameSecret } from "#domain/identity/isSameSecret.ts"
import { AttestationRequest, Attestations, PriceAttestor } from "#domain/attestation/PriceAttestor.ts"

/** What callers prove themselves with. */
export class AttestorToken extends Context.Service<AttestorToken, Redacted.Redacted>()(
  "ballast/http/attestor/AttestorToken"
) {}

const uncached = { "cache-control": "no-store" }
/** Requests that are handled concurrently; others wait their turn. */
const maxConcurrency = 32

const json = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status, headers: uncached })
const refused = (status: number, error: string, message: string) => json({ error, message }, status)

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const encode = Schema.encodeSync(Attestations)

const attestations = Effect.fnUntraced(function* (attest: PriceAttestor["Service"]["attest"]) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = yield* Effect.option(request.json)
  if (body._tag === "None") return refused(400, "invalid_request", "The body is not JSON, or too long")
  return yield* Schema.decodeUnknownEffect(AttestationRequest)(body.value).pipe(
    Effect.flatMap(attest),
    Effect.map((answer) => json(encode(answer))),
    Effect.catchTag("SchemaError", ({ issue }) => {
      const [first] = format(issue).issues
      const where = (first?.path ?? []).map(String).join(".") || "body"
      return Effect.succeed(refused(400, "invalid_request", `${where}: ${first?.message ?? "is not as expected"}`))
    })
  )
})

export const attestorRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { attest } = yield* PriceAttestor
    const expected = `Bearer ${Redacted.value(yield* AttestorToken)}`
    const turns = yield* Semaphore.make(maxConcurrency)

    const known = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      isSameSecret(headers["authorization"] ?? "", expected)
    )
    const signing = Effect.flatMap(known, (isKnown) =>
      isKnown
        ? turns.withPermit(attestations(attest))
        : Effect.succeed(refused(401, "token_invalid", "Send the attestor's token as a bearer token"))
    )

    yield* router.add("POST", "/v1/attestations", signing)
    yield* router.add("GET", "/health/live", json({ status: "live" }))
    yield* router.add("GET", "/health/ready", json({ status: "ready" }))
    yield* router.add("*", "/*", refused(404, "not_found", "There is no such route; docs/operations.md names them"))
  })
)
