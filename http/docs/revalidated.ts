/**
 * Around a page that never changes while the process runs and is large: it contains an entity tag, and a client that
 * has it already gets 304 without a body. Source: RFC 9110, 13.1.2.
 */
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import { Hex } from "effect/encoding"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const cacheControl = "public, max-age=300"

interface Page {
  readonly whole: HttpServerResponse.HttpServerResponse
  readonly unchanged: HttpServerResponse.HttpServerResponse
  readonly etag: string
}

/** Whether a client's list of tags names the page; a weak tag names it as well. */
const names = (list: string | undefined, etag: string): boolean =>
  list !== undefined && list.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//u, "") === etag)

const makeRevalidated = () =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const digest = yield* Digest.Digest
      let page: Page | undefined

      const made = Effect.fnUntraced(function* (rendered: HttpServerResponse.HttpServerResponse) {
        if (rendered.body._tag !== "Uint8Array")
          return yield* Effect.die(new Error("The page is not rendered as a whole"))
        const hash = yield* Effect.orDie(digest.digest(Digest.sha256, rendered.body.body))
        const etag = `"${Hex.encode(hash).slice(0, 32)}"`
        const headers = { etag, "cache-control": cacheControl, vary: "Origin" }
        return {
          etag,
          whole: HttpServerResponse.setHeaders(rendered, headers),
          unchanged: HttpServerResponse.empty({ status: 304, headers })
        } satisfies Page
      })

      return (render) =>
        Effect.gen(function* () {
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          page ??= yield* made(yield* render)
          return names(headers["if-none-match"], page.etag) ? page.unchanged : page.whole
        })
    })
  )

/** One for each page, since each keeps its own. */
export const revalidated = makeRevalidated()
export const revalidatedV1 = makeRevalidated()
