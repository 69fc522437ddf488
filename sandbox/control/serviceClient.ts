/**
 * The calls that the world makes to the service, over HTTP like anybody else.
 */
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

const TenantCreated = Schema.Struct({ data: Schema.Struct({ tenantId: Schema.String }) })
const KeyCreated = Schema.Struct({ data: Schema.Struct({ apiKey: Schema.String }) })
const StrategyCreated = Schema.Struct({ data: Schema.Struct({ strategyId: Schema.String }) })

const shownBytes = 500

/** A client of one running service. */
export const serviceClient = Effect.fnUntraced(function* (baseUrl: string, adminToken: string) {
  const http = yield* HttpClient.HttpClient

  const failed = (what: string, problem: string, cause?: unknown) =>
    new SandboxFailure({
      message: `The service at ${baseUrl} refused to ${what}: ${problem}`,
      ...(cause === undefined ? {} : { cause })
    })

  const send = (what: string, request: HttpClientRequest.HttpClientRequest) =>
    http.execute(request).pipe(Effect.mapError((cause) => failed(what, "no answer", cause)))

  const expect = <A>(what: string, schema: Schema.ConstraintDecoder<A>) =>
    Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
      const text = yield* response.text.pipe(Effect.mapError((cause) => failed(what, "the answer broke off", cause)))
      if (response.status !== 201) return yield* failed(what, `${response.status} ${text.slice(0, shownBytes)}`)
      return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))(text).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(schema)),
        Effect.mapError((cause) => failed(what, "the answer has another shape than expected", cause))
      )
    })

  const admin = (path: string, body: unknown) =>
    HttpClientRequest.post(`${baseUrl}/v1/admin${path}`).pipe(
      HttpClientRequest.bearerToken(adminToken),
      HttpClientRequest.bodyJsonUnsafe(body)
    )

  return {
    /** Creates a tenant; answers its id. */
    createTenant: Effect.fnUntraced(function* (name: string, email: string, entitlements: ReadonlyArray<string>) {
      const what = `create the tenant ${name}`
      const response = yield* send(what, admin("/tenants", { name, email, entitlements }))
      return (yield* expect(what, TenantCreated)(response)).data.tenantId
    }),
    /** Creates a key of a tenant; answers the key, which is shown only now. */
    createKey: Effect.fnUntraced(function* (tenantId: string, name: string, scopes: ReadonlyArray<string>) {
      const what = `create the key ${name}`
      const response = yield* send(what, admin(`/tenants/${encodeURIComponent(tenantId)}/keys`, { name, scopes }))
      return (yield* expect(what, KeyCreated)(response)).data.apiKey
    }),
    /** True when the service knows the key. */
    knowsKey: Effect.fnUntraced(function* (apiKey: string) {
      const what = "read a key"
      const request = HttpClientRequest.get(`${baseUrl}/v2/whoami`).pipe(
        HttpClientRequest.setHeader("x-api-key", apiKey)
      )
      const response = yield* send(what, request)
      if (response.status === 200) return true
      if (response.status === 401) return false
      return yield* failed(what, `${response.status}`)
    }),
    /** Says that the tenant's strategies are the address's own. */
    setOwner: Effect.fnUntraced(function* (tenantId: string, ownerAddress: string) {
      const what = `name the owner of ${tenantId}`
      const request = HttpClientRequest.put(`${baseUrl}/v1/admin/tenants/${tenantId}/owner`).pipe(
        HttpClientRequest.bearerToken(adminToken),
        HttpClientRequest.bodyJsonUnsafe({ ownerAddress })
      )
      const response = yield* send(what, request)
      if (response.status !== 200) return yield* failed(what, `${response.status}`)
    }),
    /** Creates a strategy as the owner of the key; answers its id. */
    createStrategy: Effect.fnUntraced(function* (apiKey: string, strategy: Readonly<Record<string, unknown>>) {
      const what = "create the public strategy"
      const request = HttpClientRequest.post(`${baseUrl}/v2/strategies`).pipe(
        HttpClientRequest.setHeader("x-api-key", apiKey),
        HttpClientRequest.bodyJsonUnsafe(strategy)
      )
      return (yield* expect(what, StrategyCreated)(yield* send(what, request))).data.strategyId
    }),
    /** Lets users of every tenant be enrolled into the strategy. */
    makeMirrorable: Effect.fnUntraced(function* (strategyId: string) {
      const what = "let the public strategy be mirrored"
      const path = `/v1/admin/strategy-blueprints/${encodeURIComponent(strategyId)}/mirrorable`
      const request = HttpClientRequest.patch(`${baseUrl}${path}`).pipe(
        HttpClientRequest.bearerToken(adminToken),
        HttpClientRequest.bodyJsonUnsafe({ canMirror: true })
      )
      const response = yield* send(what, request)
      if (response.status !== 200) return yield* failed(what, `${response.status}`)
    }),
    /** Makes these strategies the curated collection of discovery, in this order. */
    curate: Effect.fnUntraced(function* (strategyIds: ReadonlyArray<string>) {
      const what = "curate the public strategy"
      const request = HttpClientRequest.put(`${baseUrl}/v1/admin/discovery/curated`).pipe(
        HttpClientRequest.bearerToken(adminToken),
        HttpClientRequest.bodyJsonUnsafe({ strategyIds })
      )
      const response = yield* send(what, request)
      if (response.status !== 200) return yield* failed(what, `${response.status}`)
    })
  }
})
