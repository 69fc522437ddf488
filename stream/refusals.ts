/** Every error that the worker answers with: `{error, message}`. Listed in docs/stream.md. */
import { StreamRefusal } from "#domain/stream/SocketGate.ts"

const refusal = (status: number, error: string) => (message: string, retryAfterSeconds?: number) =>
  new StreamRefusal({ status, error, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) })

export const invalidRequest = (message: string) => refusal(400, "invalid_request")(message)
export const tokenMissing = refusal(401, "token_missing")("Send the token of a ticket as query parameter token")
export const tokenInvalid = refusal(401, "token_invalid")("The token is not valid here: ask for a new ticket")
export const tokenExpired = refusal(401, "token_expired")("The token has expired: ask for a new ticket")
export const internalTokenInvalid = refusal(401, "internal_token_invalid")("The internal token is missing or not valid")
export const originNotAllowed = refusal(403, "origin_not_allowed")("Pages of this origin may not connect")
export const topicNotAllowed = (topic: string) =>
  refusal(403, "topic_not_allowed")(`The token does not open ${topic}: ask for a ticket that names it`)
export const assetNotAllowed = (symbols: ReadonlyArray<string>) =>
  refusal(403, "public_asset_not_allowed")(`Not in the public registry: ${symbols.join(", ")}`)
export const noSuchTopic = refusal(404, "topic_not_found")("There is no such topic; docs/stream.md lists them")
export const providerNotConfigured = (provider: string) =>
  refusal(409, "provider_not_configured")(`This deployment has no key for ${provider}`)
export const registryFull = (limit: number) =>
  refusal(409, "registry_full")(`The registry holds at most ${limit} assets (STREAM_MAX_ASSETS)`)
export const rateLimited = (seconds: number) =>
  refusal(429, "rate_limited")(`Too many tickets; retry in ${seconds} s`, seconds)
export const tooManySocketsOfAddress = refusal(429, "too_many_sockets")("Close other sockets of this address first", 5)
export const tooManySockets = refusal(503, "too_many_sockets")("This worker is full: connect to another", 5)
export const notReady = refusal(503, "not_ready")("The worker is starting or cut off: try again in a second", 1)
export const registryEmpty = refusal(503, "registry_empty")("The worker does not know any asset yet: try again soon", 2)
