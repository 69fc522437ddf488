/**
 * The wallet session of a browser: a cookie that scripts cannot read and that other sites cannot make it send
 * (`HttpOnly`, `SameSite=Strict`). Set and taken away on the interface's wire alone.
 */
import { Context, Option, Redacted } from "effect"
import { Cookies } from "effect/http"
import type { SentHeaders } from "#domain/identity/access/presented.ts"

export interface CookieSettings {
  /** Whether browsers reach the service over HTTPS alone; the cookie then goes nowhere else and to no other host. */
  readonly isSecure: boolean
}

export const SessionCookie = Context.Reference<CookieSettings>("ballast/domain/identity/access/SessionCookie", {
  defaultValue: () => ({ isSecure: true })
})

export const cookieName = ({ isSecure }: CookieSettings) => (isSecure ? "__Host-ballast_session" : "ballast_session")

/** The token in the cookie that a request sends. */
export const cookieIn = (settings: CookieSettings, headers: SentHeaders): Option.Option<Redacted.Redacted> =>
  Option.map(Option.fromUndefinedOr(Cookies.parseHeader(headers["cookie"] ?? "")[cookieName(settings)]), (value) =>
    Redacted.make(value)
  )
