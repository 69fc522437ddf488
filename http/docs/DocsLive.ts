/** The published descriptions: OpenAPI 3.1, an interactive reference and a primer for language models. All public. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { DescribedProcedures } from "#http/docs/DescribedProcedures.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { procedureApi } from "#http/docs/procedureApi.ts"
import { revalidated, revalidatedV1 } from "#http/docs/revalidated.ts"
import { llmsText, llmsTextV1 } from "#http/docs/llmsText.ts"
import { V2 } from "#http/v2/Api.ts"

const cached = { "cache-control": "public, max-age=300" }

export const DocsLive = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* DocsSettings
    const servers = [{ url: publicUrl, description: "This deployment" }]
    const api = V2.annotate(OpenApi.Servers, servers)
    const document = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(api), { headers: cached })
    const apiV1 = procedureApi(yield* DescribedProcedures).annotate(OpenApi.Servers, servers)
    const documentV1 = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(apiV1), { headers: cached })
    const plain = (text: string) =>
      HttpServerResponse.text(text, { contentType: "text/plain; charset=utf-8", headers: cached })
    // The page carries its script, and asks nobody else for fonts.
    const page = { scalar: { withDefaultFonts: false } } as const

    return Layer.mergeAll(
      HttpRouter.add("GET", "/v2/openapi.json", document),
      HttpRouter.add("GET", "/v1/openapi.json", documentV1),
      HttpRouter.add("GET", "/v2/llms.txt", plain(llmsText(api, publicUrl))),
      HttpRouter.add("GET", "/v1/llms.txt", plain(llmsTextV1(apiV1, publicUrl))),
      HttpApiScalar.layer(api, { path: "/v2/docs", ...page }).pipe(Layer.provide(revalidated.layer)),
      HttpApiScalar.layer(apiV1, { path: "/v1/docs", ...page }).pipe(Layer.provide(revalidatedV1.layer))
    )
  })
)
