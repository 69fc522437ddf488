/** The published targets of a strategy: immutable, numbered, the latest is the head. Source: shapes 2.10. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { CursorInvalid, type NotFound, type ValidationFailed } from "#domain/errors/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { requireOwn, requireReadable } from "#domain/strategy/requireStrategy.ts"
import { requireValid } from "#domain/strategy/requireValid.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { StrategyVersion } from "#domain/strategy/StrategyVersion.ts"

/** What a client sends to publish a version. */
export interface VersionDraft {
  readonly allocation: Allocation
  readonly changeLog: string | null
}

/**
 * The published targets of a strategy.
 *
 * **When to use**
 *
 * Use in routes that list and publish versions.
 */
export class StrategyVersions extends Context.Service<
  StrategyVersions,
  {
    /** Newest first, of one's own strategy or of a public one. */
    readonly list: (
      strategyId: StrategyId,
      query: PageQuery
    ) => Effect.Effect<Page<StrategyVersion>, NotFound | CursorInvalid, Caller>
    /** Publishes the next version of one's own strategy; the next rebalances aim at it. */
    readonly publish: (
      strategyId: StrategyId,
      draft: VersionDraft
    ) => Effect.Effect<StrategyVersion, NotFound | ValidationFailed, Caller>
  }
>()("ballast/domain/strategy/StrategyVersions") {
  static readonly layer = Layer.effect(
    StrategyVersions,
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const assets = yield* Assets
      const tokens = yield* TokenChecks
      const chains = yield* Chains

      const list = Effect.fn("StrategyVersions.list")(function* (strategyId: StrategyId, query: PageQuery) {
        yield* requireReadable(store, strategyId)
        const name = `versions/${strategyId}`
        const { after, limit } = yield* pageRequest(name, query)
        const before = after === null ? null : yield* versionIn(after.id)
        const rows = yield* store.versions(strategyId, { limit, before })
        return page({ list: name, limit, rows }, ({ createdAt, version }) => ({ createdAt, id: String(version) }))
      })

      const publish = Effect.fn("StrategyVersions.publish")(function* (
        strategyId: StrategyId,
        { allocation, changeLog }: VersionDraft
      ) {
        // Whose a strategy is never changes, so it is the same when the version is written.
        yield* requireOwn(strategyId, ({ tenantId }) =>
          Effect.map(
            store.find(strategyId),
            Option.filter((strategy) => strategy.tenantId === tenantId)
          )
        )
        const unanswered = yield* tokens.ask(allocation.map(({ assetId }) => assetId))
        yield* requireValid({ assets, chains }, allocation, unanswered)
        const createdAt = yield* DateTime.now
        const version = yield* store.publish({ strategyId, allocation, changeLog, createdAt })
        return { version, allocation, changeLog, isHead: true, createdAt }
      })

      return StrategyVersions.of({ list, publish })
    })
  )
}

/** The version that a cursor stands at; anybody can write a cursor, so it is checked. */
const versionIn = (id: string): Effect.Effect<number, CursorInvalid> =>
  /^[1-9][0-9]{0,8}$/u.test(id)
    ? Effect.succeed(Number(id))
    : Effect.fail(
        new CursorInvalid({
          message: "The cursor is malformed; send nextCursor of the previous page unchanged",
          details: ["cursor: not a cursor of this list"]
        })
      )
