/**
 * What a request presents to say whose it is, for every wire: a key, a token, the page that it comes from. A key stands
 * in `x-api-key`, or as a bearer token like a session's, from which its beginning sets it apart.
 */
import { tokenPrefix } from "#domain/identity/Sessions.ts"

/** Headers of a request, by their names in lower case. */
export type SentHeaders = Readonly<Record<string, string | undefined>>

const bearer = /^bearer +(\S+)$/iu

/** What stands in `Authorization: Bearer`. */
export const bearerIn = (headers: SentHeaders): string | undefined => bearer.exec(headers["authorization"] ?? "")?.[1]

/** What stands in `x-api-key`; undefined when that is empty. */
export const keyHeaderIn = (headers: SentHeaders): string | undefined => headers["x-api-key"] || undefined

/** The key that a request presents, where it may stand in either header. */
export const keyIn = (headers: SentHeaders): string | undefined => {
  const key = keyHeaderIn(headers)
  if (key !== undefined) return key
  const token = bearerIn(headers)
  return token?.startsWith(tokenPrefix) === true ? undefined : token
}

/** A browser sends the origin of the page with a request, and a page cannot change that. */
export const isOfPage = ({ origin, "sec-fetch-site": site }: SentHeaders, origins: ReadonlyArray<string>): boolean =>
  origin === undefined ? site === "same-origin" : origins.includes(origin)

/**
 * A page that is not one of the service's own asks. What says nothing of a page is a program, which keeps cookies for
 * itself alone. Pages of other origins always say so, though some older browsers by only one of the two headers.
 */
export const isOfForeignPage = (headers: SentHeaders, origins: ReadonlyArray<string>): boolean =>
  (headers["origin"] !== undefined || headers["sec-fetch-site"] !== undefined) && !isOfPage(headers, origins)
