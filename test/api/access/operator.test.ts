/**
 * Each route and procedure of the operator, asked about a tenant's own objects with that tenant's key, another's, and
 * wallets' sessions: none of them is the operator, and nothing is changed. There is no table: a new one is walked too.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import type { Rpc } from "effect/rpc"
import { KeyInvalid, KeyMissing } from "#domain/errors/Errors.ts"
import { Admin } from "#http/admin/Admin.ts"
import { templateOf } from "#http/templateOf.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { Api, type Call } from "#test/api/support/Api.ts"
import { contents, newAttacker, newVictim, type Victim } from "#test/api/access/support/victim.ts"
import { wholeApi } from "#test/api/access/support/wholeApi.ts"

interface Contract {
  readonly code: string
  readonly status: number
}

const routes: Array<{ readonly method: string; readonly template: string; readonly input: unknown }> = []
HttpApi.reflect(Admin, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    routes.push({ method: endpoint.method, template: templateOf(endpoint.path), input: {} })
  }
})
for (const { _tag } of MarketDataStreamProcedures.requests.values() as Iterable<Rpc.AnyWithProps>)
  routes.push({ method: "POST", template: `/v1/rpc/${_tag}`, input: { json: { provider: "massive" } } })

/** The victim's own ids in the path; what is of no tenant has an id that is not there. */
const pathOf = (template: string, victim: Victim): string => {
  const named: Readonly<Record<string, string>> = {
    tenantId: victim.tenantId,
    apiKeyId: victim.apiKeyId,
    portfolioId: victim.portfolioId,
    blueprintId: victim.strategyId,
    ownerAddress: victim.wallet.address
  }
  return template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => named[name] ?? victim.operationId)
}

layer(wholeApi, { excludeTestServices: true })("the operator's routes and procedures", (it) => {
  it("are walked, all of them", () => assert.isAbove(routes.length, 20))

  it.effect("refuse keys of tenants and sessions, and change nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [victim, attacker] = [yield* newVictim, yield* newAttacker]
      const before = yield* contents
      const tokens = [victim.key, attacker.key, victim.owner.token, victim.member.token, attacker.session.token]
      for (const { input, method, template } of routes) {
        const path = pathOf(template, victim)
        const refused = Effect.fnUntraced(function* (sent: Call, { contract }: { readonly contract: Contract }) {
          const answer = yield* call(method, path, { ...sent, ...(method === "GET" ? {} : { body: input }) })
          const { code } = answer.json.error.json ?? answer.json.error
          assert.deepStrictEqual([answer.status, code], [contract.status, contract.code], `${method} ${template}`)
        })
        for (const token of tokens) yield* refused({ headers: { authorization: `Bearer ${token}` } }, KeyInvalid)
        yield* refused({}, KeyMissing)
        yield* refused({ key: victim.key }, KeyMissing)
      }
      assert.deepStrictEqual(yield* contents, before)
    })
  )
})
