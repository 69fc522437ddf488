/** Withdrawals and liquidations in their two stages. `ballast/signing` verifies and signs what the first answer. */
import type { Call, CallOptions, PayloadOf } from "#client/plain/Call.ts"

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const withdrawalsOf = (call: Call) => ({
  prepare: (portfolioId: string, payload: PayloadOf<"prepareWithdrawal">, options?: CallOptions) =>
    call("prepareWithdrawal", { ...byId(portfolioId), payload, ...options }),
  withdraw: (portfolioId: string, payload: PayloadOf<"withdraw">, options?: CallOptions) =>
    call("withdraw", { ...byId(portfolioId), payload, ...options }),
  prepareLiquidation: (portfolioId: string, payload: PayloadOf<"prepareLiquidation">, options?: CallOptions) =>
    call("prepareLiquidation", { ...byId(portfolioId), payload, ...options }),
  liquidateAll: (portfolioId: string, payload: PayloadOf<"liquidateAll">, options?: CallOptions) =>
    call("liquidateAll", { ...byId(portfolioId), payload, ...options })
})
