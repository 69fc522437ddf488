/**
 * The operator's switch for mirroring in PostgreSQL. Discovery's listing follows by a trigger in the same transaction
 * (migrations/0019), so both are written or neither.
 */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { StrategyId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import {
  type BlueprintKey,
  type BrokenHeads,
  type MirrorabilityChange,
  MirrorabilityStore
} from "#domain/strategy/MirrorabilityStore.ts"
import { decodeFirst, decodeRows } from "#layers/sql/rows.ts"

const Row = Schema.Struct({ blueprintId: StrategyId, canMirror: Schema.Boolean, isPublic: Schema.Boolean })
const firstRow = decodeFirst(Row)
const allRows = decodeRows(Row)
const broken = decodeRows(Schema.Struct({ blueprintId: StrategyId }))
const firstFollowed = decodeFirst(Schema.Struct({ strategyId: StrategyId, isMirrored: Schema.Boolean }))

/** Left out, `isPublic` becomes true with `canMirror`; null leaves it as it is. */
const publicOf = ({ canMirror, isPublic }: MirrorabilityChange): boolean | null => isPublic ?? (canMirror ? true : null)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(`s.strategy_id AS "blueprintId", s.can_mirror AS "canMirror", s.is_public AS "isPublic"`)

  // By a statement of its own: one that waited for a lock would not see a version that was published meanwhile.
  const requireHeads = Effect.fnUntraced(function* (ids: ReadonlyArray<StrategyId>) {
    const [first, ...others] = yield* broken(sql`
      SELECT s.strategy_id AS "blueprintId" FROM strategies s
      WHERE s.strategy_id = ANY(${ids}::text[]) AND NOT EXISTS (
        SELECT FROM strategy_versions v WHERE v.strategy_id = s.strategy_id AND v.version = s.head_version)
      ORDER BY s.strategy_id`)
    if (first !== undefined)
      return yield* Effect.fail<BrokenHeads>({
        brokenHeads: [first.blueprintId, ...others.map(({ blueprintId }) => blueprintId)]
      })
  })

  const write = (ids: ReadonlyArray<StrategyId>, change: MirrorabilityChange) => sql`
    UPDATE strategies SET can_mirror = ${change.canMirror}, is_public = coalesce(${publicOf(change)}::boolean,
      is_public)
    WHERE strategy_id = ANY(${ids}::text[])`

  const set = Effect.fn("MirrorabilityStore.set")(
    function* (key: BlueprintKey, change: MirrorabilityChange) {
      const named =
        key.kind === "number" ? sql`s.strategy_number = ${key.number}::bigint` : sql`s.strategy_id = ${key.strategyId}`
      const found = yield* firstRow(sql`SELECT ${columns} FROM strategies s WHERE ${named} FOR NO KEY UPDATE`)
      if (Option.isNone(found)) return found
      const { blueprintId, isPublic } = found.value
      yield* requireHeads([blueprintId])
      yield* write([blueprintId], change)
      return Option.some({ blueprintId, canMirror: change.canMirror, isPublic: publicOf(change) ?? isPublic })
    },
    sql.withTransaction,
    Effect.catchIf(isSqlError, Effect.die)
  )

  // Rows are locked in the order of their ids, so that of two concurrent changes the second waits and neither is torn.
  const lockOwned = (owner: OwnerAddress) =>
    allRows(sql`
      SELECT ${columns} FROM strategies s
      WHERE s.tenant_id IN (
        SELECT tenant_id FROM tenants WHERE owner_address = ${owner}
        UNION SELECT m.tenant_id FROM users u JOIN tenant_members m ON m.user_id = u.user_id
        WHERE split_part(u.wallet_id, ':', 3) = ${owner} AND m.role = 'owner')
      ORDER BY s.strategy_id FOR NO KEY UPDATE OF s`)

  const setOwned = Effect.fn("MirrorabilityStore.setOwned")(
    function* (owner: OwnerAddress, change: MirrorabilityChange) {
      const owned = yield* lockOwned(owner)
      const eligible = owned.filter(({ isPublic }) => isPublic)
      const isPublic = publicOf(change) ?? true
      const isSet = (row: typeof Row.Type) => row.canMirror === change.canMirror && row.isPublic === isPublic
      const idsOf = (rows: ReadonlyArray<typeof Row.Type>) => rows.map(({ blueprintId }) => blueprintId)
      const updated = idsOf(eligible.filter((row) => !isSet(row)))
      yield* requireHeads(idsOf(eligible))
      yield* write(updated, change)
      return {
        ownedCount: owned.length,
        skippedPrivateCount: owned.length - eligible.length,
        alreadySet: idsOf(eligible.filter(isSet)),
        updated
      }
    },
    sql.withTransaction,
    Effect.catchIf(isSqlError, Effect.die)
  )

  const followedBy = Effect.fn("MirrorabilityStore.followedBy")((portfolioId: string) =>
    firstFollowed(sql`
      SELECT s.strategy_id AS "strategyId", p.tenant_id <> s.tenant_id AS "isMirrored"
      FROM portfolios p JOIN strategies s ON s.strategy_id = p.strategy_id
      WHERE p.portfolio_id = ${portfolioId} AND p.archived_at IS NULL`)
  )

  return MirrorabilityStore.of({ set, setOwned, followedBy })
})

export const layer = Layer.effect(MirrorabilityStore, make)
