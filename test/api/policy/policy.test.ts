/**
 * The proof of what the agent may do, as the API answers it. What it says is tried in
 * test/layers/evm/guard/Policy.test.ts.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

layer(ApiLive, { excludeTestServices: true })("the policy of a portfolio", (it) => {
  it.effect("answers for each account what its chain says, in exact figures", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const answer = yield* call("GET", `/v2/portfolios/${user.portfolioId}/policy`, { key: user.key })
      assertData(answer, 200, ["portfolioId", "accounts"])
      const { accounts } = answer.json.data
      assert.deepStrictEqual(
        accounts.map(({ accountId }: { readonly accountId: string }) => accountId),
        user.smartAccounts
      )
      const { blockNumber, guard, permissions } = accounts[0].chain
      assert.strictEqual(blockNumber, "31415926")
      assert.deepInclude(guard, { lossLeft: "1.9700000", turnoverLeft: "200.0000000", maxTradeLossBps: 200 })
      assert.deepInclude(permissions[0], { kind: "guard", state: "active" })
    })
  )

  it.effect("lists which accounts are under the permission of before, and names a chain that does not answer", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      environment.isGuarded = false
      const user = yield* enrolledUser()
      environment.isGuarded = true
      environment.chainsDown = true
      const answer = yield* call("GET", `/v2/portfolios/${user.portfolioId}/policy`, { key: user.key })
      environment.chainsDown = false
      assert.deepStrictEqual(
        answer.json.data.accounts,
        user.smartAccounts.map((accountId) => ({ accountId, kind: "call_policy", chain: null }))
      )
    })
  )

  it.effect("another tenant's portfolio does not exist, and an id of another kind is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const { key } = yield* newTenant()
      assertError(yield* call("GET", `/v2/portfolios/${user.portfolioId}/policy`, { key }), NotFound)
      assertError(yield* call("GET", "/v2/portfolios/x/policy", { key }), ValidationFailed, "portfolioId: ")
    })
  )
})
