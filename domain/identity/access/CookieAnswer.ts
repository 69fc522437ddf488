/**
 * Whether the answer to a call may set a cookie. Only the interface's wire answers each call by a response of its own,
 * so only that says so.
 */
import { Context } from "effect"

export const CookieAnswer = Context.Reference<boolean>("ballast/domain/identity/access/CookieAnswer", {
  defaultValue: () => false
})
