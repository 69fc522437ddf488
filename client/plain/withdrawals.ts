/** Withdrawals and liquidations in their two stages. `ballast/signing` verifies and signs what the first answer. */
import type { Call, CallOptions, DataOf, PayloadOf } from "#client/plain/Call.ts"

/**
 * Withdrawals by the owner's signature. Use `withdraw` of `ballast/signing` where the signer is at hand; use these
 * where the owner signs elsewhere, and verify what the first stage answers with `verifyWithdrawal`. A portfolio that is
 * unknown is `API_200`; what the owner cannot be paid has a code of `API_210` to `API_220`; a chain that does not
 * answer is `API_506`, to be sent again.
 */
export interface Withdrawals {
  /** What the owner signs to withdraw assets of one chain. More than there is, is `API_210`. */
  readonly prepare: (
    portfolioId: string,
    payload: PayloadOf<"prepareWithdrawal">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareWithdrawal">>
  /** Withdraws with the signature, once. One that expired is `API_216`, one that is not the owner's `API_217`. */
  readonly withdraw: (
    portfolioId: string,
    payload: PayloadOf<"withdraw">,
    options?: CallOptions
  ) => Promise<DataOf<"withdraw">>
  /** What the owner signs to sell and withdraw all of a chain. Nothing to sell is `API_220`. */
  readonly prepareLiquidation: (
    portfolioId: string,
    payload: PayloadOf<"prepareLiquidation">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareLiquidation">>
  /** Sells and withdraws with the signature, once; codes as of `withdraw`. */
  readonly liquidateAll: (
    portfolioId: string,
    payload: PayloadOf<"liquidateAll">,
    options?: CallOptions
  ) => Promise<DataOf<"liquidateAll">>
}

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const withdrawalsOf = (call: Call): Withdrawals => ({
  prepare: (portfolioId: string, payload: PayloadOf<"prepareWithdrawal">, options?: CallOptions) =>
    call("prepareWithdrawal", { ...byId(portfolioId), payload, ...options }),
  withdraw: (portfolioId: string, payload: PayloadOf<"withdraw">, options?: CallOptions) =>
    call("withdraw", { ...byId(portfolioId), payload, ...options }),
  prepareLiquidation: (portfolioId: string, payload: PayloadOf<"prepareLiquidation">, options?: CallOptions) =>
    call("prepareLiquidation", { ...byId(portfolioId), payload, ...options }),
  liquidateAll: (portfolioId: string, payload: PayloadOf<"liquidateAll">, options?: CallOptions) =>
    call("liquidateAll", { ...byId(portfolioId), payload, ...options })
})
