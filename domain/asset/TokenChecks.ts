/**
 * Holds the token lists against the chains: whether there is a token at the address, and whether it has the decimals
 * that the list says. One that differs is refused with its reason, and counts with the decimals of its chain.
 *
 * A node that has none of the tokens is no witness against them.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { type CheckedToken, TokenCheckStore, type UncheckedToken } from "#domain/asset/TokenCheckStore.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { TokenReader, type UnfitToken } from "#domain/chain/TokenReader.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

const interval = Duration.minutes(1)
const checkedFor = Duration.days(1)
const refusedFor = Duration.minutes(5)
/** A chain that has not answered a request for a strategy by then has not answered. */
const answeredIn = Duration.seconds(3)
/** Tokens of one read. */
const batch = 400
/** Lists have no token of more. */
const maxDecimals = 36

const checkedOf = (
  { assetId, decimals: listed }: UncheckedToken,
  decimals: number | UnfitToken | null
): CheckedToken => {
  if (decimals === null) {
    return { assetId, decimals, refusal: "nothing at its address on the chain says how many decimals it has" }
  }
  if (typeof decimals === "object") return { assetId, ...decimals }
  if (decimals > maxDecimals) return { assetId, decimals: null, refusal: `its contract says ${decimals} decimals` }
  const refusal = decimals === listed ? null : `the token list says ${listed} decimals, and its contract ${decimals}`
  return { assetId, decimals, refusal }
}

/**
 * Holds the token lists against the chains.
 *
 * **When to use**
 *
 * Use `ask` before something new may name tokens, `fiber` in the composition of the service, and `pass` in tests.
 */
export class TokenChecks extends Context.Service<
  TokenChecks,
  {
    /** Asks about every token that is due; a chain that does not answer is left to the next pass. */
    readonly pass: Effect.Effect<void>
    /**
     * Asks now about those of the tokens that nobody asked about since their list named them so; answers those of which
     * it is not known still what they are. Tokens that are not listed, or on no chain of the deployment, are not among
     * them.
     */
    readonly ask: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyArray<AssetId>>
  }
>()("ballast/domain/asset/TokenChecks") {
  static readonly layer = Layer.effect(
    TokenChecks,
    Effect.gen(function* () {
      const store = yield* TokenCheckStore
      const reader = yield* TokenReader
      const { supported } = yield* Chains

      /** Writes down what the chain says of the tokens; false where its node is not believed. */
      const judge = Effect.fnUntraced(function* (chainId: ChainId, tokens: ReadonlyArray<UncheckedToken>) {
        const decimals = yield* reader.decimals(
          chainId,
          tokens.map(({ assetId }) => assetId)
        )
        const checked = tokens.map((token) => checkedOf(token, decimals.get(token.assetId) ?? null))
        if (tokens.length > 1 && [...decimals.values()].every((one) => one === null)) {
          yield* Effect.logWarning("No listed token was found on the chain; the node is not believed", { chainId })
          return false
        }
        yield* store.record(yield* DateTime.now, checked)
        for (const { assetId, refusal } of checked) {
          if (refusal !== null) yield* Effect.logWarning(`${assetId} is refused: ${refusal}`)
        }
        return true
      })

      const ask = Effect.fn("TokenChecks.ask")(function* (assetIds: ReadonlyArray<AssetId>) {
        const named = assetIds.filter((assetId) => supported.includes(chainIdOf(assetId)))
        const unchecked = yield* store.unchecked(named)
        const left = yield* Effect.forEach(
          Map.groupBy(unchecked, ({ assetId }) => chainIdOf(assetId)),
          ([chainId, tokens]) =>
            judge(chainId, tokens).pipe(
              Effect.timeoutOption(answeredIn),
              Effect.map(Option.getOrElse(() => false)),
              Effect.catchTag("ChainUnavailable", ({ message }) =>
                Effect.as(Effect.logWarning(`Listed tokens could not be checked: ${message}`), false)
              ),
              Effect.map((isKnown) => (isKnown ? [] : tokens.map(({ assetId }) => assetId)))
            ),
          { concurrency: "unbounded" }
        )
        return left.flat()
      })

      const checkSome = Effect.fnUntraced(function* (chainId: ChainId) {
        const now = yield* DateTime.now
        const due = yield* store.due({
          chainId,
          checkedBefore: DateTime.subtractDuration(now, checkedFor),
          refusedBefore: DateTime.subtractDuration(now, refusedFor),
          limit: batch
        })
        return due.length > 0 && (yield* judge(chainId, due)) && due.length === batch
      })

      const check = (chainId: ChainId): Effect.Effect<void> =>
        checkSome(chainId).pipe(
          Effect.catchTag("ChainUnavailable", ({ message }) =>
            Effect.as(Effect.logWarning(`Listed tokens could not be checked: ${message}`), false)
          ),
          Effect.flatMap((goesOn) => (goesOn ? check(chainId) : Effect.void))
        )

      return TokenChecks.of({
        ask,
        pass: Effect.forEach(supported, check, { concurrency: "unbounded", discard: true }).pipe(
          Effect.withSpan("TokenChecks.pass")
        )
      })
    })
  )

  /** The fiber that checks for as long as the layer lives. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const { pass } = yield* TokenChecks
      yield* keepGoingEvery(pass, { complaint: "Listed tokens could not be checked", interval })
    })
  )
}
