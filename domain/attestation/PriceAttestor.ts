/**
 * Port: the attestor, which signs prices of tokens that have no feed on their chain. Requests and answers are the same
 * for an attestor in this process and for one in its own.
 */
import { Context, type Effect, Schema } from "effect"
import { ChainId, EvmAddress } from "#domain/values/Caip.ts"

/** More tokens than the gas of one operation can trade. */
const maxTokens = 64
const longestReason = 500

const UnixSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 40 - 1 }))
const Usd = Schema.BigIntFromString.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 128n - 1n }))

export const AttestationRequest = Schema.Struct({
  chainId: ChainId,
  /** The guard that is to accept the prices; its address is signed with them. */
  guard: EvmAddress,
  tokens: Schema.NonEmptyArray(EvmAddress).check(Schema.isMaxLength(maxTokens), Schema.isUnique()),
  /** Time of the block that the asker stands on. A price from the future of a chain is refused by it. */
  notAfter: UnixSeconds
})
export type AttestationRequest = typeof AttestationRequest.Type

/** Why there is no price. */
export const RefusalCode = {
  /** No attestor is configured, or it does not answer. */
  unavailable: "UNAVAILABLE",
  /** The attestor does not sign for this guard. */
  unknownGuard: "UNKNOWN_GUARD",
  /** The chain's registry needs no attested price for the token. */
  notWanted: "NOT_WANTED",
  /** A source does not list the token, or does not answer: one alone is not enough to sign. */
  sourceMissing: "SOURCE_MISSING",
  /** The two sources are further apart than is tolerated. */
  sourcesDisagree: "SOURCES_DISAGREE",
  /** The price is older than the registry takes it. */
  stale: "STALE",
  /** The price is further from that of the day's beginning than the registry's step. */
  beyondStep: "BEYOND_STEP",
  /** The key gave no signature. */
  notSigned: "NOT_SIGNED",
  /** The answer is no signature of the chain's attestor, or no price of the request. */
  invalid: "INVALID"
} as const
export type RefusalCode = (typeof RefusalCode)[keyof typeof RefusalCode]

export const SignedPrice = Schema.Struct({
  token: EvmAddress,
  /** US dollars (wad) for one whole token. */
  price: Usd,
  /** Time at which the market showed the price (UNIX, seconds). */
  time: UnixSeconds,
  /** Signature of the price as EIP-712 typed data, 65 bytes in hex. */
  signature: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{130}$/u))
})
export type SignedPrice = typeof SignedPrice.Type

export const RefusedPrice = Schema.Struct({
  token: EvmAddress,
  code: Schema.Literals(Object.values(RefusalCode)),
  /** One sentence with the figures. */
  reason: Schema.String.check(Schema.isMaxLength(longestReason))
})
export type RefusedPrice = typeof RefusedPrice.Type

export const Attestations = Schema.Struct({
  signed: Schema.Array(SignedPrice).check(Schema.isMaxLength(maxTokens)),
  refused: Schema.Array(RefusedPrice).check(Schema.isMaxLength(maxTokens))
})
export type Attestations = typeof Attestations.Type

/** Answers one refusal for every token of a request. */
export const refuseAll = (
  { tokens }: Pick<AttestationRequest, "tokens">,
  code: RefusalCode,
  reason: string
): Attestations => ({
  signed: [],
  refused: tokens.map((token) => ({ token, code, reason: reason.slice(0, longestReason) }))
})

/**
 * Signed prices of tokens without a feed on their chain.
 *
 * **When to use**
 *
 * Use when a batch trades such a token, before it is prepared. Prices that value holdings are `Prices`.
 *
 * **Details**
 *
 * Never fails: a token is either attested or refused with a reason, and a batch goes on without the refused ones.
 *
 * **Example** (An attestor that signs nothing)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { PriceAttestor, RefusalCode, refuseAll } from "#domain/attestation/PriceAttestor.ts"
 *
 * const SilentAttestor = Layer.succeed(PriceAttestor, {
 *   attest: (request) => Effect.succeed(refuseAll(request, RefusalCode.unavailable, "The attestor does not answer"))
 * })
 * ```
 */
export class PriceAttestor extends Context.Service<
  PriceAttestor,
  {
    /** Each token is in one of both lists. An attestor that does not answer refuses all of them. */
    readonly attest: (request: AttestationRequest) => Effect.Effect<Attestations>
  }
>()("ballast/domain/attestation/PriceAttestor") {}
