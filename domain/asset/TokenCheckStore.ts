/** Port: what chains were found to say of listed tokens. */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"

/** A token to ask its chain about. */
export interface UncheckedToken {
  readonly assetId: AssetId
  /** Decimals that the token list states. */
  readonly decimals: number
}

/** What the chain said of a token. */
export interface CheckedToken {
  readonly assetId: AssetId
  /** Null where it has none that can be used. */
  readonly decimals: number | null
  /** Why the token is refused, as the end of a sentence about it; null when it is as listed. */
  readonly refusal: string | null
}

/** Which tokens are due. */
export interface DueTokens {
  readonly chainId: ChainId
  /** A token that was as listed when it was asked after this moment is not due. */
  readonly checkedBefore: DateTime.Utc
  /** Time before which a refused token is checked again. */
  readonly refusedBefore: DateTime.Utc
  readonly limit: number
}

/**
 * What chains were found to say of listed tokens.
 *
 * **When to use**
 *
 * Use in `TokenChecks` alone. Everything else sees the result in `Assets`: the decimals of the chain, and a token that
 * is refused as blocked.
 */
export class TokenCheckStore extends Context.Service<
  TokenCheckStore,
  {
    /** Those that were never asked about first. */
    readonly due: (query: DueTokens) => Effect.Effect<ReadonlyArray<UncheckedToken>>
    /** Those of the assets that are listed and were never asked about, as they are listed now. */
    readonly unchecked: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyArray<UncheckedToken>>
    readonly record: (at: DateTime.Utc, checked: ReadonlyArray<CheckedToken>) => Effect.Effect<void>
  }
>()("ballast/domain/asset/TokenCheckStore") {}
