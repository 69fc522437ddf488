/**
 * The published descriptions: OpenAPI 3.1, an interactive reference, a page of Markdown for each operation, and primers
 * for language models. All public. The document's server is relative, so that it is right under every host name.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { DescribedProcedures } from "#http/docs/DescribedProcedures.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { llmsText, llmsTextV1 } from "#http/docs/llmsText.ts"
import { operationPagePath, operationPages } from "#http/docs/operationPages.ts"
import { procedureApi } from "#http/docs/procedureApi.ts"
import { revalidated, revalidatedV1 } from "#http/docs/revalidated.ts"
import { workedExample } from "#http/docs/workedExample.ts"
import { addRoute } from "#http/serving/routeTable.ts"
import { V2 } from "#http/v2/Api.ts"

/** Which page may read it depends on the page, and a cache may have it from a request of none. */
const cached = { "cache-control": "public, max-age=300", vary: "Origin" }

export const DocsLive = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* DocsSettings
    const servers = [{ url: "/", description: "This deployment" }]
    const api = V2.annotate(OpenApi.Servers, servers)
    const described = OpenApi.fromApi(api)
    const document = HttpServerResponse.jsonUnsafe(described, { headers: cached })
    const apiV1 = procedureApi(yield* DescribedProcedures).annotate(OpenApi.Servers, servers)
    const documentV1 = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(apiV1), { headers: cached })
    const text = (content: string, contentType = "text/plain") =>
      HttpServerResponse.text(content, { contentType: `${contentType}; charset=utf-8`, headers: cached })
    const pages = operationPages(described)
    const overview = llmsText(api, publicUrl, workedExample(pages))
    const primer = text(overview)
    const whole = text([overview, ...pages.map((page) => page.text)].join("\n---\n\n"))
    // The page contains its script, and loads no fonts.
    const page = { scalar: { withDefaultFonts: false } } as const

    return Layer.mergeAll(
      HttpRouter.add("GET", "/v2/openapi.json", document),
      HttpRouter.add("GET", "/v1/openapi.json", documentV1),
      ...["/llms.txt" as const, "/v2/llms.txt" as const].map((path) => HttpRouter.add("GET", path, primer)),
      ...["/llms-full.txt" as const, "/v2/llms-full.txt" as const].map((path) => HttpRouter.add("GET", path, whole)),
      HttpRouter.add("GET", "/v1/llms.txt", text(llmsTextV1(apiV1, publicUrl))),
      ...pages.map((one) => {
        const path = operationPagePath(one.operationId)
        addRoute("GET", path)
        return HttpRouter.add("GET", path, text(one.text, "text/markdown"))
      }),
      HttpApiScalar.layer(api, { path: "/v2/docs", ...page }).pipe(Layer.provide(revalidated.layer)),
      HttpApiScalar.layer(apiV1, { path: "/v1/docs", ...page }).pipe(Layer.provide(revalidatedV1.layer))
    )
  })
)
