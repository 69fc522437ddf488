/**
 * `GET /v2/portfolios/{id}` in Fastify 5 with pg, as fast as its documentation teaches: response schema, prepared
 * statements, no logger. It checks key, scope, tenant and the form of the id; it limits, traces and counts nothing.
 */
import Fastify from "fastify"
import { Pool } from "pg"
import { makeKeys } from "#bench/peers/keys.ts"
import { portfolioSchema, readPortfolio } from "#bench/peers/portfolio.ts"
import { serve } from "#bench/peers/serve.ts"

interface Settings {
  readonly database: string
  readonly poolSize: number
  readonly pepper: string
  /** 0 asks the database for the key at every request. */
  readonly rememberKeyForSeconds: number
}

const failure = (code: string, message: string) => ({ success: false, error: { code, message } })

const schema = {
  params: {
    type: "object",
    properties: { portfolioId: { type: "string", pattern: "^pf_[0-7][0-9A-HJKMNP-TV-Z]{25}$" } }
  },
  response: { 200: portfolioSchema }
} as const

serve(async ({ database, pepper, poolSize, rememberKeyForSeconds }: Settings) => {
  const pool = new Pool({ connectionString: database, max: poolSize })
  const authenticate = makeKeys(pool, pepper, rememberKeyForSeconds)
  const app = Fastify()

  app.get<{ Params: { portfolioId: string } }>("/v2/portfolios/:portfolioId", { schema }, async (request, reply) => {
    const secret = request.headers["x-api-key"]
    if (typeof secret !== "string") return reply.code(401).send(failure("API_101", "Send an API key in x-api-key"))
    const caller = await authenticate(secret, "portfolios:read")
    if ("refused" in caller) {
      const { code, message, status } = caller.refused
      return reply.code(status).send(failure(code, message))
    }
    const data = await readPortfolio(pool, caller.tenantId, request.params.portfolioId)
    return data === undefined
      ? reply.code(404).send(failure("API_006", "There is no such portfolio"))
      : { success: true, data }
  })

  await app.listen({ host: "127.0.0.1", port: 0 })
  return app.server
})
