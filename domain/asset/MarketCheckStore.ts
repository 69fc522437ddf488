/** Port: what the venues of their chains were found to give for listed tokens. */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetMarket } from "#domain/asset/Asset.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"

/** A token whose market is to be read. */
export interface UnjudgedToken {
  readonly assetId: AssetId
  /** Decimals that the chain states. */
  readonly decimals: number
  /** An issuer sells it and takes it back, whatever the venues hold. */
  readonly hasIssuer: boolean
}

/** What was found of a token's market. */
export interface JudgedToken {
  readonly assetId: AssetId
  /** The decimals by which it was found. */
  readonly decimals: number
  /** Null where the value of the token is not held against it. */
  readonly market: AssetMarket | null
}

/** Which tokens are due. */
export interface DueMarkets {
  readonly chainId: ChainId
  /** A token whose market was read after this moment is not due. */
  readonly readBefore: DateTime.Utc
  readonly limit: number
}

/**
 * What venues were found to give for listed tokens.
 *
 * **When to use**
 *
 * Use in `MarketChecks` alone. Everything else sees the result in `Assets`.
 */
export class MarketCheckStore extends Context.Service<
  MarketCheckStore,
  {
    /** Those that were never read first. A token whose decimals its chain has not said is not among them. */
    readonly due: (query: DueMarkets) => Effect.Effect<ReadonlyArray<UnjudgedToken>>
    /** A token that has other decimals by now is left as it is. */
    readonly record: (at: DateTime.Utc, judged: ReadonlyArray<JudgedToken>) => Effect.Effect<void>
  }
>()("ballast/domain/asset/MarketCheckStore") {}
