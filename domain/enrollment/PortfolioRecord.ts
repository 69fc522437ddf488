/** A portfolio in a form that is stored and read back unchanged: what a replay answers. */
import { Effect, Schema } from "effect"
import { AccountId, WalletId } from "#domain/Caip.ts"
import { PortfolioId, StrategyId, TenantId } from "#domain/Ids.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { Frequency } from "#domain/RebalanceSchedule.ts"

const fields = {
  portfolioId: PortfolioId,
  tenantId: TenantId,
  name: Schema.NullOr(Schema.String),
  ownerAccountId: WalletId,
  strategyId: StrategyId,
  strategyName: Schema.String,
  strategyDescription: Schema.NullOr(Schema.String),
  strategyVersion: Schema.Int,
  smartAccounts: Schema.Array(AccountId),
  // Left out by records from before accounts told their permission.
  guardedAccounts: Schema.Array(AccountId).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  walletRoleId: Schema.optionalKey(Schema.Int),
  schedule: Schema.NullOr(
    Schema.Struct({
      status: Schema.Literals(["active", "paused"]),
      // Left out by records from before owners could revoke through the service.
      pauseReason: Schema.NullOr(Schema.Literals(["stopped", "revoked"])).pipe(
        Schema.withDecodingDefaultKey(Effect.succeed(null))
      ),
      frequency: Frequency,
      nextDueAt: Schema.DateTimeUtcFromString,
      lastRebalanceAt: Schema.NullOr(Schema.DateTimeUtcFromString)
    })
  ),
  externalId: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  createdAt: Schema.DateTimeUtcFromString,
  updatedAt: Schema.DateTimeUtcFromString
} satisfies Record<keyof Portfolio, Schema.Top>

export const PortfolioRecord = Schema.Struct(fields)
