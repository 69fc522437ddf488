/**
 * What owners sign about permissions, each in its two stages: `prepare...` answers what is to be signed, the other
 * sends the signature. `ballast/signing` verifies and signs what the first stages answer.
 */
import type { Call, CallOptions, PayloadOf } from "#client/plain/Call.ts"

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const enrollmentsOf = (call: Call) => ({
  prepare: (payload: PayloadOf<"prepareEnrollment">, options?: CallOptions) =>
    call("prepareEnrollment", { payload, ...options }),
  enroll: (payload: PayloadOf<"enroll">, options?: CallOptions) => call("enroll", { payload, ...options }),
  prepareChains: (portfolioId: string, payload: PayloadOf<"prepareActivation">, options?: CallOptions) =>
    call("prepareActivation", { ...byId(portfolioId), payload, ...options }),
  activateChains: (portfolioId: string, payload: PayloadOf<"activateChains">, options?: CallOptions) =>
    call("activateChains", { ...byId(portfolioId), payload, ...options }),
  prepareResign: (portfolioId: string, payload: PayloadOf<"prepareResign"> = {}, options?: CallOptions) =>
    call("prepareResign", { ...byId(portfolioId), payload, ...options }),
  resign: (portfolioId: string, payload: PayloadOf<"resign">, options?: CallOptions) =>
    call("resign", { ...byId(portfolioId), payload, ...options }),
  prepareRevocation: (portfolioId: string, payload: PayloadOf<"prepareRevocation"> = {}, options?: CallOptions) =>
    call("prepareRevocation", { ...byId(portfolioId), payload, ...options }),
  revoke: (portfolioId: string, payload: PayloadOf<"revoke">, options?: CallOptions) =>
    call("revoke", { ...byId(portfolioId), payload, ...options })
})
