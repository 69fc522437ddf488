/**
 * What owners sign about permissions, each in its two stages: `prepare...` answers what is to be signed, the other
 * sends the signature. `ballast/signing` verifies and signs what the first stages answer.
 */
import type { Call, CallOptions, DataOf, PayloadOf } from "#client/plain/Call.ts"

/**
 * Permissions that owners sign. Use `enroll` of `ballast/signing` where the signer is at hand; use these where the
 * owner signs elsewhere, and verify what the first stage answers with `verifyAuthorization`. First stages make no
 * portfolio and change no permission. A portfolio that is unknown is `API_200`; a chain that does not answer is
 * `API_506`, to be sent again.
 */
export interface Enrollments {
  /** What the owner signs to begin. One portfolio for each owner and strategy: another is `API_202`. */
  readonly prepare: (
    payload: PayloadOf<"prepareEnrollment">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareEnrollment">>
  /** Makes the portfolio with the signature. `API_202` as above; an external id that is taken is `API_230`. */
  readonly enroll: (payload: PayloadOf<"enroll">, options?: CallOptions) => Promise<DataOf<"enroll">>
  /** What the owner signs to add chains, at the same address. */
  readonly prepareChains: (
    portfolioId: string,
    payload: PayloadOf<"prepareActivation">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareActivation">>
  /** Adds the chains with the signature. */
  readonly activateChains: (
    portfolioId: string,
    payload: PayloadOf<"activateChains">,
    options?: CallOptions
  ) => Promise<DataOf<"activateChains">>
  /** What the owner signs to renew permissions that end, or are of an older kind. */
  readonly prepareResign: (
    portfolioId: string,
    payload?: PayloadOf<"prepareResign">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareResign">>
  /** Renews the permissions with the signature. */
  readonly resign: (
    portfolioId: string,
    payload: PayloadOf<"resign">,
    options?: CallOptions
  ) => Promise<DataOf<"resign">>
  /** What the owner signs to end permissions. */
  readonly prepareRevocation: (
    portfolioId: string,
    payload?: PayloadOf<"prepareRevocation">,
    options?: CallOptions
  ) => Promise<DataOf<"prepareRevocation">>
  /** Ends the permissions with the signature, by an operation on each chain. */
  readonly revoke: (
    portfolioId: string,
    payload: PayloadOf<"revoke">,
    options?: CallOptions
  ) => Promise<DataOf<"revoke">>
}

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const enrollmentsOf = (call: Call): Enrollments => ({
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
