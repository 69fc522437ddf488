/**
 * Values as they are written on the wire, each with the form that it has. An answer is checked against them before it
 * is sent, so the document is true of it. Source: interface "Identifier formats" and "Number formats", shapes 2.0.
 */
import { Schema } from "effect"
import * as Caip from "#domain/values/Caip.ts"
import { FlowId, OperationId, PortfolioId, StrategyId } from "#domain/values/Ids.ts"

/** A form that JSON Schema has a name for. */
interface NamedForm {
  readonly pattern: RegExp
  readonly format: "date" | "date-time"
}

/** Text of one form. */
export const written = (description: string, form: RegExp | NamedForm, example: string) =>
  Schema.String.check(
    form instanceof RegExp
      ? Schema.isPattern(form)
      : Schema.isPattern(form.pattern, {
          toJsonSchema: () => ({ pattern: form.pattern.source, format: form.format })
        })
  ).annotate({ description, examples: [example] })

/** Text for people, as long as what it is made of allows. */
export const prose = (description: string, maximum: number, ...examples: readonly [string, ...Array<string>]) =>
  Schema.String.check(Schema.isMaxLength(maximum)).annotate({ description, examples })

const isoTime = {
  pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/u,
  format: "date-time"
} as const

/** ISO 8601, UTC, milliseconds. */
export const timestamp = (description: string, example = "2026-03-02T09:30:00.000Z") =>
  written(`${description}. ISO 8601 in UTC with milliseconds.`, isoTime, example)

/** US dollars with six decimals. */
export const usd = (description: string, example = "1500.500000") =>
  written(`${description}. US dollars with 6 decimals.`, /^[0-9]+\.[0-9]{6}$/u, example)

/** An integer without point or exponent. */
export const rawAmount = (description: string) =>
  written(`${description}. Integer in the token's smallest unit.`, /^(0|[1-9][0-9]*)$/u, "1500500000")

/** Bytes in hex with 0x. */
export const hexBytes = (description: string, bytes: number, example: string) =>
  written(description, new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`, "u"), example)

/** A 20-byte address without a chain, where a standard of others requires one. */
export const addressText = (description: string) =>
  hexBytes(description, 20, "0x52908400098527886E0F7030069857D2E4169EE7")

const exampleAsset = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

export const AssetIdText = written("CAIP-19 of the asset.", Caip.anyPattern.asset, exampleAsset)
export const HeldAssetIdText = written(
  "CAIP-19 of the asset: a token, or the native coin of its chain (`slip44`).",
  Caip.anyPattern.held,
  exampleAsset
)
export const SmartAccountIdText = written(
  "CAIP-10 of the smart account, bound to its chain.",
  Caip.anyPattern.account,
  "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7"
)
export const WalletIdText = written(
  "CAIP-10 of the end user's wallet.",
  Caip.anyPattern.wallet,
  "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
)

/** Ids of a form of their own: one of another kind in a request is a 400 that names it. */
export const StrategyIdParam = StrategyId.annotate({ description: "Id of the strategy." })
export const PortfolioIdParam = PortfolioId.annotate({ description: "Id of the portfolio." })
export const OperationIdParam = OperationId.annotate({ description: "Id of the operation." })
export const FlowIdParam = FlowId.annotate({ description: "Id of the flow." })

export const StrategyIdText = StrategyIdParam
export const PortfolioIdText = PortfolioIdParam
export const OperationIdText = OperationIdParam

/** An opaque position in a list. */
export const cursorText = (description: string) =>
  written(description, /^[A-Za-z0-9_-]{1,512}$/u, "eyJsIjoic3RyYXRlZ2llcyJ9")
