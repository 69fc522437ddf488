/**
 * A route whose transaction fits. Jupiter is asked over fewer and fewer accounts; what it builds is checked each time,
 * so that a form that would not be signed is known when it is quoted.
 */
import type { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { Effect } from "effect"
import type { ProviderUnavailable } from "#layers/provider/makeFind.ts"
import type { TransactionDoesNotFit } from "#layers/solana/lifecycle/errors.ts"
import type { Step } from "#layers/solana/swig/Plan.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { Wrapping } from "#layers/solana/token/nativeSol.ts"
import { type CheckedSwap, checkSwap, type Leg, type SwapRefused } from "#layers/solana/trading/checkSwap.ts"
import { type BuiltSwap, JupiterClient } from "#layers/solana/trading/JupiterClient.ts"

/**
 * Accounts that a route may use, from the widest on. Six more than these are in the transaction, which may have 64;
 * some of 54 take 799 bytes with three lookup tables.
 */
const accountLimits = [54, 40, 26, 14] as const

export interface RouteRequest {
  readonly place: PortfolioRole
  readonly leg: Omit<Leg, "account">
  readonly slippageBps: number
  readonly agent: PublicKey
}

export interface FoundRoute {
  readonly built: BuiltSwap
  readonly checked: CheckedSwap
}

/** What `use` makes of the first route that fits; `use` says that a route does not. */
export const findRoute = <A, E, R>(
  { agent, leg, place, slippageBps }: RouteRequest,
  use: (route: FoundRoute) => Effect.Effect<A, E | TransactionDoesNotFit, R>
): Effect.Effect<A, E | TransactionDoesNotFit | ProviderUnavailable | SwapRefused, R | JupiterClient> => {
  const { deposit: account, wallet } = addressesOf(place)
  const attempt = Effect.fnUntraced(function* (maxAccounts: number) {
    const built = yield* (yield* JupiterClient).build({
      inputMint: leg.sell.mint.toBase58(),
      outputMint: leg.buy.mint.toBase58(),
      taker: account.toBase58(),
      amountRaw: leg.sellRaw,
      slippageBps,
      maxAccounts
    })
    const checked = yield* Effect.fromResult(checkSwap(built, { ...leg, account }, { agent, wallet }))
    return yield* use({ built, checked })
  })
  const [widest, ...narrower] = accountLimits
  return narrower.reduce(
    (found, maxAccounts) =>
      Effect.catchIf(
        found,
        (error): error is TransactionDoesNotFit => isTooLarge(error),
        () => attempt(maxAccounts)
      ),
    attempt(widest)
  )
}

const isTooLarge = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "TransactionDoesNotFit"

/** The steps of a swap, without limits and prices of units. */
export const swapSteps = (
  place: PortfolioRole,
  { instruction, opened }: CheckedSwap,
  around: { readonly wrapping: Wrapping; readonly least: ReadonlyArray<TransactionInstruction> }
): ReadonlyArray<Step> => [
  ...around.wrapping.steps,
  ...opened.map((one): Step => ({ _tag: "MakeTokenAccount", owner: addressesOf(place).deposit, ...one })),
  {
    _tag: "ActForSubAccount",
    id: place.walletId,
    roleId: place.roleId,
    inner: [...around.wrapping.inner, instruction, ...around.least]
  }
]
