/** The operator's switch for mirroring. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  Internal,
  KeyInvalid,
  KeyMissing,
  NotFound,
  PermissionDenied,
  PortfolioNotFound,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { TenantId } from "#domain/values/Ids.ts"
import { type Actor, enroll, newStrategy, newTenant, setMirrorable } from "#test/api/support/actors.ts"
import { adminToken, type Answer, Api, ApiLive, operatorAddress } from "#test/api/support/Api.ts"
import { assertTraced } from "#test/api/support/assertions.ts"

const assertRefused = (answer: Answer, { contract }: { readonly contract: { code: string; status: number } }) => {
  assert.strictEqual(answer.status, contract.status, answer.text)
  assert.strictEqual(answer.json.error.code, contract.code)
  assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
}

const patch = (path: string, body: unknown, token = adminToken) =>
  Effect.flatMap(Api, ({ call }) =>
    call("PATCH", `/v1/admin${path}`, { headers: { authorization: `Bearer ${token}` }, body })
  )

const setOwner = ({ tenantId }: Pick<Actor, "tenantId">, ownerAddress: string | null) =>
  Effect.flatMap(Api, ({ call }) =>
    call("PUT", `/v1/admin/tenants/${tenantId}/owner`, {
      headers: { authorization: `Bearer ${adminToken}` },
      body: { ownerAddress }
    })
  )

/** Which of these strategies discovery lists. */
const listed = Effect.fnUntraced(function* ({ key }: Actor, ids: ReadonlyArray<string>) {
  const { call } = yield* Api
  const { json } = yield* call("GET", "/v2/discovery/strategies?collection=top_performing", { key })
  const found = new Set(json.data.strategies.map((item: { readonly strategyId: string }) => item.strategyId))
  return ids.filter((id) => found.has(id))
})

const assertOwned = (answer: Answer, expected: Readonly<Record<string, unknown>>) => {
  assert.strictEqual(answer.status, 200, answer.text)
  assertTraced(answer)
  assert.deepStrictEqual(answer.json.data, { legacySyncFailedBlueprintIds: [], ...expected })
}

const solanaAddress = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"

const bulkPaths = ["/portfolios/mirrorable/glider-owned", `/portfolios/mirrorable/owners/${solanaAddress}`]

layer(ApiLive, { excludeTestServices: true })("mirrorable", (it) => {
  it.effect("enabling makes a strategy public, disabling leaves that as it is, and isPublic says otherwise", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const blueprintId = yield* newStrategy(actor)
      for (const [body, data] of [
        [
          { canMirror: true, isPublic: false },
          { canMirror: true, isPublic: false }
        ],
        [{ canMirror: true }, { canMirror: true, isPublic: true }],
        [{ canMirror: false }, { canMirror: false, isPublic: true }],
        [
          { canMirror: false, isPublic: false },
          { canMirror: false, isPublic: false }
        ],
        [{ canMirror: false }, { canMirror: false, isPublic: false }]
      ] as const) {
        const answer = yield* setMirrorable(blueprintId, body)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(answer.json.data, { blueprintId, ...data })
        assert.isTrue(answer.json.success)
        assertTraced(answer)
        const { json } = yield* call("GET", `/v2/strategies/${blueprintId}`, { key: actor.key })
        assert.strictEqual(json.data.isPublic, data.isPublic)
      }
    })
  )

  it.effect("needs the admin token, a strategy that exists and a body of its form", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const blueprintId = yield* newStrategy(yield* newTenant())
      const path = `/v1/admin/strategy-blueprints/${blueprintId}/mirrorable`
      assertRefused(yield* call("PATCH", path, { body: { canMirror: true } }), KeyMissing)
      assertRefused(yield* setMirrorable(blueprintId, { canMirror: true }, `${adminToken}x`), KeyInvalid)
      for (const unknown of ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "42"]) {
        assertRefused(yield* setMirrorable(unknown, { canMirror: true }), NotFound)
      }
      for (const body of [{}, { canMirror: "yes" }, { canMirror: true, isOpen: true }, { isPublic: true }]) {
        assertRefused(yield* setMirrorable(blueprintId, body), ValidationFailed)
      }
    })
  )

  it.effect("a blueprint is named by its number too, and through a portfolio of its creator", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const actor = yield* newTenant()
      const blueprintId = yield* newStrategy(actor)
      const [row] = yield* sql<{ readonly number: bigint }>`
        SELECT strategy_number AS number FROM strategies WHERE strategy_id = ${blueprintId}`
      const byNumber = yield* setMirrorable(`${row!.number}`, { canMirror: true })
      assert.deepStrictEqual(byNumber.json.data, { blueprintId, canMirror: true, isPublic: true })
      assert.deepStrictEqual(yield* listed(actor, [blueprintId]), [blueprintId])

      const { portfolioId } = yield* enroll(actor, blueprintId)
      const path = `/portfolios/${portfolioId}/mirrorable`
      const byPortfolio = yield* patch(path, { canMirror: false })
      assert.strictEqual(byPortfolio.status, 200, byPortfolio.text)
      assert.deepStrictEqual(byPortfolio.json.data, { blueprintId, canMirror: false, isPublic: true, portfolioId })
      assert.deepStrictEqual(yield* listed(actor, [blueprintId]), [])
      for (const body of [{}, { canMirror: 1 }, { canMirror: true, portfolioId }])
        assertRefused(yield* patch(path, body), ValidationFailed)
      for (const unknown of ["pf_01JQ8ZKX4V6T3M9N2C5B7D8F0G", "7", blueprintId])
        assertRefused(yield* patch(`/portfolios/${unknown}/mirrorable`, { canMirror: true }), PortfolioNotFound)
      assertRefused(yield* patch("/portfolios/a%20b/mirrorable", { canMirror: true }), ValidationFailed)
    })
  )

  it.effect("a portfolio that mirrors another tenant's strategy switches nothing: 403", () =>
    Effect.gen(function* () {
      const [creator, mirror] = [yield* newTenant(), yield* newTenant()]
      const blueprintId = yield* newStrategy(creator, { isPublic: true })
      const { portfolioId } = yield* enroll(mirror, blueprintId)
      assertRefused(yield* patch(`/portfolios/${portfolioId}/mirrorable`, { canMirror: false }), PermissionDenied)
      assert.deepStrictEqual(yield* listed(mirror, [blueprintId]), [blueprintId])
    })
  )

  for (const [what, owner] of [
    ["an EVM owner", "0x52908400098527886E0F7030069857D2E4169EE7"],
    ["a Solana owner", solanaAddress],
    ["the operator's own account", operatorAddress]
  ] as const) {
    it.effect(`all public blueprints of ${what} at once: private ones are skipped, a second call changes nothing`, () =>
      Effect.gen(function* () {
        const path =
          owner === operatorAddress
            ? "/portfolios/mirrorable/glider-owned"
            : `/portfolios/mirrorable/owners/${owner.startsWith("0x") ? owner.toLowerCase() : owner}`
        const [actor, other] = [yield* newTenant(), yield* newTenant()]
        assert.deepStrictEqual((yield* setOwner(actor, owner)).json.data, {
          tenantId: actor.tenantId,
          ownerAddress: owner
        })
        const [open, closed] = [yield* newStrategy(actor), yield* newStrategy(actor)]
        const hidden = yield* newStrategy(actor)
        const foreign = yield* newStrategy(other, { isPublic: true })
        yield* setMirrorable(open, { canMirror: true })
        yield* setMirrorable(closed, { canMirror: false, isPublic: true })
        const counts = {
          ownerAddress: owner,
          totalOwnedBlueprintCount: 3,
          eligiblePublicBlueprintCount: 2,
          skippedPrivateBlueprintCount: 1
        }
        const both = [open, closed].toSorted()
        assertOwned(yield* patch(path, { canMirror: true }), {
          ...counts,
          canMirror: true,
          isPublic: true,
          alreadyInDesiredStateBlueprintIds: [open],
          updatedBlueprintIds: [closed]
        })
        assert.deepStrictEqual((yield* listed(actor, both)).toSorted(), both)
        assertOwned(yield* patch(path, { canMirror: true }), {
          ...counts,
          canMirror: true,
          isPublic: true,
          alreadyInDesiredStateBlueprintIds: both,
          updatedBlueprintIds: []
        })
        assertOwned(yield* patch(path, { canMirror: false }), {
          ...counts,
          canMirror: false,
          isPublic: true,
          alreadyInDesiredStateBlueprintIds: [],
          updatedBlueprintIds: both
        })
        assert.deepStrictEqual(yield* listed(actor, [...both, hidden, foreign]), [foreign])
        assertOwned(yield* patch(path, { canMirror: true, isPublic: false }), {
          ...counts,
          canMirror: true,
          isPublic: false,
          alreadyInDesiredStateBlueprintIds: [],
          updatedBlueprintIds: both
        })
        assertOwned(yield* patch(path, { canMirror: true }), {
          ...counts,
          canMirror: true,
          isPublic: true,
          eligiblePublicBlueprintCount: 0,
          skippedPrivateBlueprintCount: 3,
          alreadyInDesiredStateBlueprintIds: [],
          updatedBlueprintIds: []
        })
        assert.strictEqual((yield* setOwner(actor, null)).status, 200)
        assert.strictEqual((yield* patch(path, { canMirror: true })).json.data.totalOwnedBlueprintCount, 0)
      })
    )
  }

  it.effect("a head version that does not exist is 500 and nothing is changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const actor = yield* newTenant()
      yield* setOwner(actor, operatorAddress)
      const [sound, broken] = [yield* newStrategy(actor), yield* newStrategy(actor)]
      for (const id of [sound, broken]) yield* setMirrorable(id, { canMirror: false, isPublic: true })
      yield* sql`UPDATE strategies SET head_version = 9 WHERE strategy_id = ${broken}`
      for (const path of [bulkPaths[0]!, `/strategy-blueprints/${broken}/mirrorable`])
        assertRefused(yield* patch(path, { canMirror: true }), Internal)
      yield* sql`UPDATE strategies SET head_version = 1 WHERE strategy_id = ${broken}`
      assert.deepStrictEqual(yield* listed(actor, [sound, broken]), [])
      yield* setOwner(actor, null)
    })
  )

  it.effect("a listing that cannot be written is 500, and nothing is changed", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const actor = yield* newTenant()
      yield* setOwner(actor, operatorAddress)
      const ids = [yield* newStrategy(actor), yield* newStrategy(actor)]
      for (const id of ids) yield* setMirrorable(id, { canMirror: false, isPublic: true })
      yield* sql`ALTER TABLE discovery_entries
        ADD CONSTRAINT fault CHECK (strategy_id <> ${sql.literal(`'${ids[1]}'`)})`
      const ofOwner = `/portfolios/mirrorable/owners/${operatorAddress}`
      for (const path of [bulkPaths[0]!, ofOwner]) assertRefused(yield* patch(path, { canMirror: true }), Internal)
      assertRefused(yield* setMirrorable(ids[1]!, { canMirror: true }), Internal)
      yield* sql`ALTER TABLE discovery_entries DROP CONSTRAINT fault`
      assert.deepStrictEqual(yield* listed(actor, ids), [])
      const rows = yield* sql`SELECT 1 FROM strategies WHERE strategy_id = ANY(${ids}::text[]) AND can_mirror`
      assert.lengthOf(rows, 0)
      assert.strictEqual((yield* call("GET", `/v2/strategies/${ids[0]}`, { key: actor.key })).json.data.isPublic, true)
      yield* setOwner(actor, null)
    })
  )

  it.effect("the bulk routes need the admin token, a body of its form and an address", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const path of bulkPaths) {
        assertRefused(yield* call("PATCH", `/v1/admin${path}`, { body: { canMirror: true } }), KeyMissing)
        assertRefused(yield* patch(path, { canMirror: true }, `${adminToken}x`), KeyInvalid)
        for (const body of [{}, { canMirror: null }, { canMirror: true, all: true }])
          assertRefused(yield* patch(path, body), ValidationFailed)
      }
      for (const address of ["0x52908400098527886E0F7030069857D2E4169Ee7", "0x12", "eip155:0:0x12", "0OIl"]) {
        const path = `/portfolios/mirrorable/owners/${address}`
        assertRefused(yield* patch(path, { canMirror: true }), ValidationFailed)
        assertRefused(yield* setOwner(yield* newTenant(), address), ValidationFailed)
      }
      assertRefused(yield* setOwner({ tenantId: TenantId.make("tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G") }, null), NotFound)
    })
  )
})
