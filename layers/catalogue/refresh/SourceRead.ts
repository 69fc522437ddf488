/** What was read from a source of the catalogue. */
import { Context, type Effect, Schema } from "effect"
import type { CatalogueReader } from "#layers/catalogue/TokenFile.ts"

/** A token as its source lists it. */
export interface SourceToken {
  /** CAIP-2. */
  readonly chain: string
  /** Address in its canonical form. */
  readonly address: string
  readonly symbol: string
  /** Null where the source does not give them. */
  readonly decimals: number | null
  /** Ticker of the share that the token stands for; null where the source lists other tokens too. */
  readonly ticker: string | null
}

export interface SourceRead {
  /** Name of the source in the catalogue from now on. */
  readonly what: string
  readonly tokens: ReadonlyArray<SourceToken>
  /** Rows that could not be read: any of them may be a token that the catalogue has. */
  readonly unreadable: number
}

/** Why a source gave nothing that could be used. */
export class SourceUnread extends Schema.TaggedError<SourceUnread>()("SourceUnread", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export class CatalogueSources extends Context.Service<
  CatalogueSources,
  Readonly<Record<CatalogueReader, Effect.Effect<SourceRead, SourceUnread>>>
>()("ballast/layers/catalogue/refresh/CatalogueSources") {}
