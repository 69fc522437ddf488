/** Strategies of the calling tenant, and the public ones of others to read. Source: interface "strategies", shapes 2.4 to 2.10. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { type Page, type PageQuery, page, pageRequest } from "#domain/Cursor.ts"
import { type CursorInvalid, NotFound, ValidationFailed } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makeStrategyId, type StrategyId } from "#domain/Ids.ts"
import type { RebalanceSchedule } from "#domain/RebalanceSchedule.ts"
import { problemsOf } from "#domain/strategy/allocationRules.ts"
import { isAccessible } from "#domain/strategy/isAccessible.ts"
import type { Allocation, Strategy, SwapPreferences } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/** What a client sends to create a strategy. */
export interface StrategyDraft {
  readonly name: string
  readonly description: string | null
  readonly allocation: Allocation
  readonly schedule: RebalanceSchedule
  readonly swap: SwapPreferences
  readonly isPublic: boolean
}

export class Strategies extends Context.Service<
  Strategies,
  {
    readonly create: (draft: StrategyDraft) => Effect.Effect<Strategy, ValidationFailed, Caller>
    /** The gates of `create`; nothing is stored. */
    readonly validate: (draft: StrategyDraft) => Effect.Effect<void, ValidationFailed>
    readonly list: (query: PageQuery) => Effect.Effect<Page<Strategy>, CursorInvalid, Caller>
    /** One's own strategy or a public one; anything else is not found. */
    readonly get: (strategyId: StrategyId) => Effect.Effect<Strategy, NotFound, Caller>
    /** Publishes the next immutable version of one's own strategy; the next rebalances aim at it. */
    readonly publish: (
      strategyId: StrategyId,
      allocation: Allocation,
      changeLog: string | null
    ) => Effect.Effect<number, NotFound | ValidationFailed, Caller>
  }
>()("ballast/domain/strategy/Strategies") {
  static readonly layer = Layer.effect(
    Strategies,
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const assets = yield* Assets
      const random = yield* SecureRandom.SecureRandom

      const check = Effect.fnUntraced(function* (allocation: Allocation) {
        const known = yield* assets.find(allocation.map(({ assetId }) => assetId))
        const problems = problemsOf(allocation, known)
        if (problems.length > 0) {
          return yield* new ValidationFailed({ message: "The allocation is not valid", details: problems })
        }
      })

      const validate = Effect.fn("Strategies.validate")((draft: StrategyDraft) => check(draft.allocation))

      const create = Effect.fn("Strategies.create")(function* (draft: StrategyDraft) {
        const { tenantId } = yield* Caller
        yield* check(draft.allocation)
        const strategyId = yield* Effect.provideService(makeStrategyId, SecureRandom.SecureRandom, random)
        const strategy: Strategy = { ...draft, strategyId, tenantId, version: 1, createdAt: yield* DateTime.now }
        yield* store.insert(strategy)
        return strategy
      })

      const list = Effect.fn("Strategies.list")(function* (query: PageQuery) {
        const { tenantId } = yield* Caller
        const request = yield* pageRequest("strategies", query)
        const rows = yield* store.list(tenantId, request)
        return page("strategies", request.limit, rows, (row) => ({ createdAt: row.createdAt, id: row.strategyId }))
      })

      const get = Effect.fn("Strategies.get")(function* (strategyId: StrategyId) {
        const { tenantId } = yield* Caller
        const strategy = yield* store.find(strategyId)
        if (Option.isNone(strategy) || !isAccessible(strategy.value, tenantId)) {
          return yield* new NotFound({ message: `There is no strategy ${strategyId} that this key can access` })
        }
        return strategy.value
      })

      const publish = Effect.fn("Strategies.publish")(function* (
        strategyId: StrategyId,
        allocation: Allocation,
        changeLog: string | null
      ) {
        const { tenantId } = yield* Caller
        const strategy = yield* store.find(strategyId)
        if (Option.isNone(strategy) || strategy.value.tenantId !== tenantId) {
          return yield* new NotFound({ message: `There is no strategy ${strategyId} of this tenant` })
        }
        yield* check(allocation)
        return yield* store.publish({ strategyId, allocation, changeLog, createdAt: yield* DateTime.now })
      })

      return Strategies.of({ create, validate, list, get, publish })
    })
  )
}
