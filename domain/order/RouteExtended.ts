/**
 * A route as clients of LI.FI's SDK hold it: `RouteExtended` of versions 3 and 4, which differ in what a step's
 * `execution` lists. Every field that means something is read; others are kept, since the provider needs them back.
 * Source: LI.FI SDK v3 and v4, `RouteExtended`.
 */
import { Schema } from "effect"
import { EvmAddress } from "#domain/values/Caip.ts"

const Digits = Schema.String.check(Schema.isPattern(/^[0-9]{1,78}$/u, { expected: "an integer in a string" }))
const Text = Schema.String.check(Schema.isMaxLength(256))
const chain = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const Token = Schema.Struct({ address: EvmAddress, chainId: chain })

const Action = Schema.Struct({
  fromChainId: chain,
  toChainId: chain,
  fromToken: Token,
  toToken: Token,
  fromAmount: Digits,
  fromAddress: Schema.optionalKey(EvmAddress),
  toAddress: Schema.optionalKey(EvmAddress)
})

const Estimate = Schema.Struct({ fromAmount: Digits, toAmount: Digits, toAmountMin: Digits })

/** What the SDK has begun of a step: `process` in version 3, `actions` in version 4. */
const Execution = Schema.Struct({
  status: Schema.optionalKey(Text),
  process: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  actions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

const Step = Schema.Struct({
  type: Schema.Literal("lifi"),
  tool: Text,
  action: Action,
  estimate: Estimate,
  execution: Schema.optionalKey(Execution)
})

const Route = Schema.Struct({
  fromChainId: chain,
  fromToken: Token,
  fromAmount: Digits,
  fromAddress: Schema.optionalKey(EvmAddress),
  toChainId: chain,
  toToken: Token,
  toAmount: Digits,
  toAmountMin: Digits,
  toAddress: Schema.optionalKey(EvmAddress),
  steps: Schema.Array(Step).check(Schema.isBetweenLength(1, 10, { expected: "1 to 10 steps" }))
})
export type ReadRoute = typeof Route.Type

/** The route as it was sent, and what is read of it. */
export interface RouteExtended {
  readonly sent: { readonly steps: ReadonlyArray<Readonly<Record<string, unknown>>> }
  readonly read: ReadRoute
}

export const ReadRoute = Route
