/** The control API of a running sandbox, as far as the demo needs it. */
import { Context, Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { AssetId, ChainId } from "#domain/values/Caip.ts"

const Overview = Schema.Struct({
  apiBaseUrl: Schema.String,
  streamBaseUrl: Schema.String,
  tenants: Schema.NonEmptyArray(Schema.Struct({ name: Schema.String, apiKey: Schema.String })),
  chains: Schema.Array(
    Schema.Struct({
      chainId: ChainId,
      rpcUrl: Schema.String,
      assets: Schema.Array(
        Schema.Struct({ assetId: AssetId, symbol: Schema.String, decimals: Schema.Int, priceUsd: Schema.String })
      )
    })
  )
})
export type Overview = typeof Overview.Type

/** No sandbox answers, or it answers something else. */
class SandboxUnreachable extends Schema.TaggedError<SandboxUnreachable>()("SandboxUnreachable", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `No sandbox answers at ${this.url} (${this.reason}). Start one with: npm start`
  }
}

export class Sandbox extends Context.Service<
  Sandbox,
  {
    readonly overview: Overview
    /** Key of the tenant for whom the demo calls. */
    readonly apiKey: string
    readonly faucet: (accountId: string, assetId: string, amountRaw: bigint) => Effect.Effect<void, SandboxUnreachable>
    readonly setPrice: (assetId: AssetId, priceUsd: string) => Effect.Effect<void, SandboxUnreachable>
    readonly advanceDays: (days: number) => Effect.Effect<void, SandboxUnreachable>
  }
>()("ballast/src/demo/Sandbox") {
  /** The sandbox as the first tenant sees it, or the one of a name. */
  static readonly layer = (url: string, tenant?: string) =>
    Layer.effect(
      Sandbox,
      Effect.gen(function* () {
        const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
        const reachable = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
          Effect.mapError(effect, ({ message }) => new SandboxUnreachable({ url, reason: message }))

        const post = (path: string, body: unknown) =>
          reachable(
            Effect.asVoid(
              client.execute(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${url}${path}`), body))
            )
          )

        const overview = yield* reachable(Effect.flatMap(client.get(url), HttpClientResponse.schemaBodyJson(Overview)))
        const named = overview.tenants.find(({ name }) => name === tenant) ?? overview.tenants[0]
        return Sandbox.of({
          overview,
          apiKey: named.apiKey,
          faucet: (accountId, assetId, amountRaw) =>
            post("/faucet", { accountId, assetId, amountRaw: amountRaw.toString() }),
          setPrice: (assetId, priceUsd) => post("/prices", { assetId, priceUsd }),
          advanceDays: (days) => post("/clock/advance", { ms: days * 86_400_000 })
        })
      })
    )
}
