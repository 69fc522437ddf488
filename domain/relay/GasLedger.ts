/** Port: units of gas that the service paid for in a UTC day. `RelayStore.recordReceipt` writes them. */
import { Context, type DateTime, type Effect } from "effect"
import type { PortfolioId, TenantId } from "#domain/Ids.ts"

/** For whom gas is paid. */
export interface Payee {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
}

/**
 * Gas that was paid today.
 *
 * **When to use**
 *
 * Use in `GasBudget` alone.
 */
export class GasLedger extends Context.Service<
  GasLedger,
  {
    /** Of the portfolio, and of all portfolios of its tenant, in the day of `now`. */
    readonly spent: (
      payee: Payee,
      now: DateTime.Utc
    ) => Effect.Effect<{ readonly portfolio: bigint; readonly tenant: bigint }>
  }
>()("ballast/domain/relay/GasLedger") {}
