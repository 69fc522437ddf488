/**
 * The published descriptions: OpenAPI 3.1, an interactive reference, a page of Markdown for each operation, and primers
 * for language models. All public. The document's server is relative, so that it is right under every host name.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { revalidated } from "#http/docs/revalidated.ts"
import { llmsText } from "#http/docs/llmsText.ts"
import { operationPagePath, operationPages } from "#http/docs/operationPages.ts"
import { workedExample } from "#http/docs/workedExample.ts"
import { addRoute } from "#http/middleware/routeTable.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"

const cached = { "cache-control": "public, max-age=300" }

export const DocsLive = Layer.unwrap(
  Effect.map(DocsSettings, ({ publicUrl }) => {
    const servers = [{ url: "/", description: "This deployment" }]
    const api = V2.annotate(OpenApi.Servers, servers)
    const described = OpenApi.fromApi(api)
    const document = HttpServerResponse.jsonUnsafe(described, { headers: cached })
    const documentV1 = HttpServerResponse.jsonUnsafe(OpenApi.fromApi(V1.annotate(OpenApi.Servers, servers)), {
      headers: cached
    })
    const text = (content: string, contentType: string) =>
      HttpServerResponse.text(content, { contentType: `${contentType}; charset=utf-8`, headers: cached })
    const pages = operationPages(described)
    const overview = llmsText(api, publicUrl)
    const primer = text(overview, "text/plain")
    const whole = text(
      [overview, workedExample(pages), ...pages.map((page) => page.text)].join("\n---\n\n"),
      "text/plain"
    )

    return Layer.mergeAll(
      HttpRouter.add("GET", "/v2/openapi.json", document),
      HttpRouter.add("GET", "/v1/openapi.json", documentV1),
      ...["/llms.txt" as const, "/v2/llms.txt" as const].map((path) => HttpRouter.add("GET", path, primer)),
      ...["/llms-full.txt" as const, "/v2/llms-full.txt" as const].map((path) => HttpRouter.add("GET", path, whole)),
      ...pages.map((page) => {
        const path = operationPagePath(page.operationId)
        addRoute("GET", path)
        return HttpRouter.add("GET", path, text(page.text, "text/markdown"))
      }),
      // The page carries its script, and asks nobody else for fonts.
      HttpApiScalar.layer(api, { path: "/v2/docs", scalar: { withDefaultFonts: false } }).pipe(
        Layer.provide(revalidated.layer)
      )
    )
  })
)
