/**
 * Swaps as Jupiter builds them: `GET /swap/v2/build`. What it answers is checked before anything is signed
 * (checkSwap.ts).
 */
import { Context, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { makeFind, ProviderUnavailable } from "#layers/provider/makeFind.ts"
import type { Problem } from "#layers/provider/Problem.ts"
import { Key } from "#layers/solana/rpc/answers.ts"

const Amount = Schema.String.check(Schema.isPattern(/^[0-9]{1,20}$/u))

const Instruction = Schema.Struct({
  programId: Key,
  /** Twice what a transaction may have. */
  accounts: Schema.Array(Schema.Struct({ pubkey: Key, isSigner: Schema.Boolean, isWritable: Schema.Boolean })).check(
    Schema.isMaxLength(128)
  ),
  data: Schema.Uint8ArrayFromBase64
})
export type BuiltInstruction = typeof Instruction.Type

const BuiltSwap = Schema.Struct({
  inputMint: Key,
  outputMint: Key,
  inAmount: Amount,
  outAmount: Amount,
  otherAmountThreshold: Amount,
  /** Part of the price that the whole amount loses, as a decimal fraction; below zero where it gains. */
  priceImpactPct: Schema.optionalKey(Schema.NullOr(Schema.FiniteFromString)),
  setupInstructions: Schema.Array(Instruction),
  swapInstruction: Instruction,
  cleanupInstruction: Schema.NullOr(Instruction),
  otherInstructions: Schema.Array(Instruction),
  tipInstruction: Schema.optionalKey(Schema.NullOr(Instruction)),
  addressesByLookupTableAddress: Schema.NullOr(Schema.Record(Key, Schema.Array(Key)))
})
export type BuiltSwap = typeof BuiltSwap.Type

/** What Jupiter says of a refusal, such as that it finds no route. */
const Refusal = Schema.Struct({
  error: Schema.String,
  errorCode: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int]))
})
const readProblem = (body: unknown): Problem | undefined =>
  Option.getOrUndefined(
    Option.map(Schema.decodeUnknownOption(Refusal)(body), ({ error, errorCode }) => ({
      code: null,
      words: errorCode === undefined ? error : `${errorCode}: ${error}`
    }))
  )

export interface SwapQuestion {
  /** Mints and the owner of the tokens, in base58. */
  readonly inputMint: string
  readonly outputMint: string
  readonly taker: string
  readonly amountRaw: bigint
  readonly slippageBps: number
  readonly maxAccounts: number
}

export interface JupiterSettings {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted | null
  /** Requests of the plan that the key belongs to, over all processes that share it. */
  readonly requestsPerSecond: number
}

export class JupiterClient extends Context.Service<
  JupiterClient,
  { readonly build: (question: SwapQuestion) => Effect.Effect<BuiltSwap, ProviderUnavailable> }
>()("ballast/layers/solana/JupiterClient") {
  static readonly layer = (settings: JupiterSettings) =>
    Layer.effect(
      JupiterClient,
      Effect.gen(function* () {
        const find = yield* makeFind({
          name: "Jupiter",
          baseUrl: settings.baseUrl,
          headers: settings.apiKey === null ? {} : { "x-api-key": Redacted.value(settings.apiKey) },
          refusedKey: "check its API key",
          concurrentRequests: 4,
          requestsPerSecond: settings.requestsPerSecond,
          answerLimit: Duration.seconds(5),
          retryPause: Duration.millis(250),
          maxBytes: 1024 * 1024,
          longestPause: Duration.minutes(1),
          pauseHeaders: ["retry-after", "x-ratelimit-reset"],
          transientStatuses: [],
          readProblem
        })
        return {
          build: Effect.fn("JupiterClient.build")(function* ({ amountRaw, maxAccounts, slippageBps, ...keys }) {
            const params = {
              ...keys,
              amount: amountRaw.toString(),
              slippageBps: String(slippageBps),
              maxAccounts: String(maxAccounts),
              // The sub-account holds wrapped SOL: what it would close and open is not signed.
              wrapAndUnwrapSol: "false"
            }
            const found = yield* find({ path: "/swap/v2/build", params, schema: BuiltSwap })
            if (Option.isSome(found)) return found.value
            return yield* new ProviderUnavailable({ reason: "Jupiter answered 404; check its base URL", code: null })
          })
        }
      })
    ).pipe(Layer.provide(FetchHttpClient.layer))
}
