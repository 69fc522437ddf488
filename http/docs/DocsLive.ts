/** The published descriptions: OpenAPI 3.1, an interactive reference and a primer for language models. All public. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { revalidated } from "#http/docs/revalidated.ts"
import { llmsText } from "#http/docs/llmsText.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"

const cached = { "cache-control": "public, max-age=300" }

export const DocsLive = Layer.unwrap(
  Effect.map(DocsSettings, ({ publicUrl }) => {
    const servers = [{ url: publicUrl, description: "This deployment" }]
    const api = V2.annotate(OpenApi.Servers, servers)
    const document = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(api), { headers: cached })
    const documentV1 = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(V1.annotate(OpenApi.Servers, servers)), {
      headers: cached
    })
    const primer = HttpServerResponse.text(llmsText(api, publicUrl), {
      contentType: "text/plain; charset=utf-8",
      headers: cached
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", "/v2/openapi.json", document),
      HttpRouter.add("GET", "/v1/openapi.json", documentV1),
      HttpRouter.add("GET", "/v2/llms.txt", primer),
      // The page carries its script, and asks nobody else for fonts.
      HttpApiScalar.layer(api, { path: "/v2/docs", scalar: { withDefaultFonts: false } }).pipe(
        Layer.provide(revalidated.layer)
      )
    )
  })
)
