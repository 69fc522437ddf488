/**
 * The reads that integrators poll, in Fastify 5 with pg, as fast as its documentation teaches: response schemas,
 * prepared statements, no logger. It checks key, scope, tenant and the form of ids; it limits, traces and counts
 * nothing.
 */
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { Pool } from "pg"
import { type Caller, makeKeys } from "#bench/peers/keys.ts"
import { readOperation } from "#bench/peers/operation.ts"
import { readPortfolio } from "#bench/peers/portfolio.ts"
import { makePositions } from "#bench/peers/positions.ts"
import * as schemas from "#bench/peers/schemas.ts"
import { serve } from "#bench/peers/serve.ts"
import { listStrategies } from "#bench/peers/strategies.ts"

interface Settings {
  readonly database: string
  readonly poolSize: number
  readonly pepper: string
  /** 0 asks the database for the key at every request. */
  readonly rememberKeyForSeconds: number
  /** Base URL of the chains and of the price source. */
  readonly upstream: string
}

interface Params {
  readonly portfolioId: string
  readonly operationId: string
}

interface Page {
  readonly limit: number
  readonly cursor?: string
}

type Request = FastifyRequest<{ Params: Params; Querystring: Page }>

const failure = (code: string, message: string) => ({ success: false, error: { code, message } })

serve(async ({ database, pepper, poolSize, rememberKeyForSeconds, upstream }: Settings) => {
  const pool = new Pool({ connectionString: database, max: poolSize })
  const authenticate = makeKeys(pool, pepper, rememberKeyForSeconds)
  const readPositions = makePositions(pool, upstream)
  const app = Fastify()

  /** Answers what `read` gives to a caller whose key has the scope; null where every valid key will do. */
  const guarded =
    (scope: string | null, read: (caller: Caller, request: Request) => Promise<object | undefined>) =>
    async (request: Request, reply: FastifyReply) => {
      const secret = request.headers["x-api-key"]
      if (typeof secret !== "string") return reply.code(401).send(failure("API_101", "Send an API key in x-api-key"))
      const found = await authenticate(secret, scope)
      if ("refused" in found) {
        const { code, message, status } = found.refused
        return reply.code(status).send(failure(code, message))
      }
      return (await read(found, request)) ?? reply.code(404).send(failure("API_006", "There is nothing of that id"))
    }

  const one =
    (read: (caller: Caller, params: Params) => Promise<object | undefined>) =>
    async (caller: Caller, { params }: Request) => {
      const data = await read(caller, params)
      return data === undefined ? undefined : { success: true, data }
    }

  app.get(
    "/v2/whoami",
    { schema: schemas.whoami },
    guarded(
      null,
      one(async ({ tenantId: _, ...shown }) => shown)
    )
  )
  app.get(
    "/v2/portfolios/:portfolioId",
    { schema: schemas.portfolio },
    guarded(
      "portfolios:read",
      one(({ tenantId }, { portfolioId }) => readPortfolio(pool, tenantId, portfolioId))
    )
  )
  app.get(
    "/v2/portfolios/:portfolioId/positions",
    { schema: schemas.positions },
    guarded(
      "portfolios:read",
      one(({ tenantId }, { portfolioId }) => readPositions(tenantId, portfolioId))
    )
  )
  app.get(
    "/v2/portfolios/:portfolioId/operations/:operationId",
    { schema: schemas.operation },
    guarded(
      "portfolios:read",
      one(({ tenantId }, { operationId, portfolioId }) => readOperation(pool, { tenantId, portfolioId, operationId }))
    )
  )
  app.get(
    "/v2/strategies",
    { schema: schemas.strategies },
    guarded("strategies:read", ({ tenantId }, { query: { cursor, limit } }) =>
      listStrategies(pool, tenantId, { limit, cursor })
    )
  )

  await app.listen({ host: "127.0.0.1", port: 0 })
  return app.server
})
