/**
 * Port: units of gas that the service paid for in a UTC day. `RelayStore.recordReceipt` writes them. What owners sign
 * (withdrawals and revocations) counts apart from what the agent does.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"

/** Payee of gas: for whom it is paid. */
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
    /**
     * Reads the gas of the day of `now`: by the agent, of the portfolio and of all portfolios of its tenant; by the
     * owner's signature, of the portfolio.
     */
    readonly spent: (
      payee: Payee,
      now: DateTime.Utc
    ) => Effect.Effect<{ readonly portfolio: bigint; readonly tenant: bigint; readonly owner: bigint }>
  }
>()("ballast/domain/relay/GasLedger") {}
