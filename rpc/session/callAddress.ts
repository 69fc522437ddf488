/** What calls from the client's address are counted under, whichever wire them came by. */
import { Context, type Fiber, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { clientAddress } from "#domain/values/clientAddress.ts"

/** Address of the request that contains the call that a fiber runs. */
export const callAddress = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const context = fiber.context as Context.Context<HttpServerRequest.HttpServerRequest>
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  return clientAddress(request === undefined ? undefined : Option.getOrUndefined(request.remoteAddress))
}
