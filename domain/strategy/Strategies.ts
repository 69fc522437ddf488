/**
 * Strategies of the calling tenant, and the public ones of others to read. Source: interface "strategies", shapes 2.4
 * to 2.7.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { type CursorInvalid, type ExternalIdTaken, type NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makeStrategyId, type StrategyId } from "#domain/values/Ids.ts"
import { type Labels, type LabelsRefusal, refusalError } from "#domain/values/Labels.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { requireOwn, requireReadable } from "#domain/strategy/requireStrategy.ts"
import { requireValid } from "#domain/strategy/requireValid.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import type { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"
import {
  type NewStrategy,
  type Removal,
  type StrategyFilter,
  type StrategyPatch,
  StrategyStore
} from "#domain/strategy/StrategyStore.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"

/** What a client sends to create a strategy. */
export interface StrategyDraft extends Labels {
  readonly name: string
  readonly description: string | null
  readonly allocation: Allocation
  /** Null: the tenant's default, which must then exist. */
  readonly schedule: RebalanceSchedule | null
  readonly swap: SwapPreferences
  readonly rebalancePolicy?: RebalancePolicy
  readonly triggers?: StrategyTriggers
  readonly isPublic: boolean
}

const refused = (refusal: LabelsRefusal) => refusalError("strategy", refusal)

/**
 * Strategies of the calling tenant.
 *
 * **When to use**
 *
 * Use in routes that are called with a key, and in services that first require a strategy to be readable. Schedule,
 * preferences and fees are `StrategyConfiguration`, further targets `StrategyVersions`.
 *
 * **Details**
 *
 * A foreign strategy that is not public is not found, like one that does not exist.
 *
 * **Example** (The names of a tenant's strategies)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Strategies } from "#domain/strategy/Strategies.ts"
 *
 * const names = Effect.gen(function* () {
 *   const strategies = yield* Strategies
 *   const { items } = yield* strategies.list({ limit: 20 })
 *   return items.map(({ name }) => name)
 * })
 * ```
 */
export class Strategies extends Context.Service<
  Strategies,
  {
    readonly create: (draft: StrategyDraft) => Effect.Effect<Strategy, ValidationFailed | ExternalIdTaken, Caller>
    /** The gates of `create`, but for the external id, which counts when it is written; nothing is stored. */
    readonly validate: (draft: StrategyDraft) => Effect.Effect<void, ValidationFailed, Caller>
    readonly list: (query: PageQuery & StrategyFilter) => Effect.Effect<Page<Strategy>, CursorInvalid, Caller>
    /** One's own strategy, or a public one without the labels of its creator; anything else is not found. */
    readonly get: (strategyId: StrategyId) => Effect.Effect<Strategy, NotFound, Caller>
    /** Changes the given fields of one's own strategy; none given is no change. */
    readonly update: (
      strategyId: StrategyId,
      patch: StrategyPatch
    ) => Effect.Effect<Strategy, NotFound | ExternalIdTaken | ValidationFailed, Caller>
    /**
     * Deletes the caller's own strategy when nothing uses it, else archives it: it takes no further enrollments,
     * portfolios that follow it go on, and lists leave it out unless a request includes archived ones.
     */
    readonly remove: (strategyId: StrategyId) => Effect.Effect<Removal, NotFound, Caller>
    readonly restore: (strategyId: StrategyId) => Effect.Effect<Strategy, NotFound, Caller>
  }
>()("ballast/domain/strategy/Strategies") {
  static readonly layer = Layer.effect(
    Strategies,
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenants = yield* TenantConfigurationStore
      const assets = yield* Assets
      const tokens = yield* TokenChecks
      const chains = yield* Chains
      const random = yield* SecureRandom.SecureRandom

      const scheduleOf = Effect.fnUntraced(function* ({ schedule }: StrategyDraft) {
        if (schedule !== null) return schedule
        const { tenantId } = yield* Caller
        const byDefault = (yield* tenants.preferences(tenantId)).schedule
        if (byDefault !== null) return byDefault
        return yield* new ValidationFailed({
          message:
            "The strategy has no schedule and the tenant has no default; send one, or set the tenant's preferences",
          details: ["schedule: required, because the tenant has no default schedule"]
        })
      })

      /** The gates in their order; answers the schedule that applies. */
      const check = Effect.fnUntraced(function* (draft: StrategyDraft) {
        const schedule = yield* scheduleOf(draft)
        const unanswered = yield* tokens.ask(draft.allocation.map(({ assetId }) => assetId))
        yield* requireValid({ assets, chains }, draft.allocation, unanswered)
        return schedule
      })

      const validate = Effect.fn("Strategies.validate")((draft: StrategyDraft) => Effect.asVoid(check(draft)))

      const create = Effect.fn("Strategies.create")(function* (draft: StrategyDraft) {
        const { tenantId } = yield* Caller
        const schedule = yield* check(draft)
        const strategyId = yield* Effect.provideService(makeStrategyId, SecureRandom.SecureRandom, random)
        const created: NewStrategy = {
          ...draft,
          schedule,
          strategyId,
          tenantId,
          version: 1,
          createdAt: yield* DateTime.now
        }
        yield* Effect.mapError(store.insert(created), refused)
        return { ...created, canMirror: false, maxApy: null }
      })

      const list = Effect.fn("Strategies.list")(function* (query: PageQuery & StrategyFilter) {
        const { tenantId } = yield* Caller
        const request = yield* pageRequest("strategies", query)
        const rows = yield* store.list(tenantId, query, request)
        return page({ list: "strategies", limit: request.limit, rows }, (row) => ({
          createdAt: row.createdAt,
          id: row.strategyId
        }))
      })

      const get = Effect.fn("Strategies.get")(function* (strategyId: StrategyId) {
        const { tenantId } = yield* Caller
        const strategy = yield* requireReadable(store, strategyId)
        if (strategy.tenantId === tenantId) return strategy
        const { externalId: _, metadata: __, ...shared } = strategy
        return shared
      })

      const update = Effect.fn("Strategies.update")((strategyId: StrategyId, patch: StrategyPatch) =>
        requireOwn(strategyId, (own) => Effect.mapError(store.update(own, patch), refused))
      )

      const remove = Effect.fn("Strategies.remove")(function* (strategyId: StrategyId) {
        const at = yield* DateTime.now
        return yield* requireOwn(strategyId, (own) => store.remove(own, at))
      })

      const restore = Effect.fn("Strategies.restore")(function* (strategyId: StrategyId) {
        const at = yield* DateTime.now
        return yield* requireOwn(strategyId, (own) => store.restore(own, at))
      })

      return Strategies.of({ create, validate, list, get, update, remove, restore })
    })
  )
}
