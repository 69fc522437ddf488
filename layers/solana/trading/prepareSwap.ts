/**
 * One leg of a rebalance: a swap that Jupiter built, checked, wrapped in a signature of the sub-account, and simulated.
 */
import type { PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { addressOf, type SplAssetId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ProviderUnavailable } from "#layers/provider/makeFind.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { prepare, type PreparationError, type Prepared } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import { wrap, wrappedAccount } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { foreignAuthorities, type Holdings, readHoldings } from "#layers/solana/token/readHoldings.ts"
import { type Leg, SwapRefused, untradable } from "#layers/solana/trading/checkSwap.ts"
import { findRoute, swapSteps } from "#layers/solana/trading/findRoute.ts"
import type { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { minimumOfLeg, minimumOfPassed } from "#layers/solana/trading/minimumAmount.ts"
import { readLookupTables } from "#layers/solana/trading/readLookupTables.ts"

export interface Trade {
  readonly place: PortfolioRole
  readonly leg: Omit<Leg, "account">
  readonly slippageBps: number
  /** Tag by which the transaction is found on the chain. */
  readonly tag?: PublicKey | undefined
  readonly agent: Pick<Agent, "key">
  readonly fees: FeePolicy
}

export interface PreparedSwap extends Prepared {
  /** What the sub-account held when the swap was built. */
  readonly before: Holdings
  readonly expectedRaw: bigint
}

/** Nothing is signed. The sold tokens must be in the sub-account's associated account, SOL may be lamports too. */
export const prepareSwap = Effect.fn("solana.prepareSwap")(function* ({
  agent,
  fees,
  leg,
  tag,
  place,
  slippageBps
}: Trade): Effect.fn.Return<
  PreparedSwap,
  PreparationError | ChainUnavailable | ProviderUnavailable | SwapRefused,
  SolanaRpc | JupiterClient
> {
  const { deposit: account } = addressesOf(place)
  for (const token of [leg.sell, leg.buy]) {
    const reason = untradable(token)
    if (reason !== undefined) {
      return yield* new SwapRefused({ message: `${token.mint.toBase58()} is not traded: ${reason}` })
    }
  }
  const before = yield* readHoldings(account, { mints: [leg.sell.mint, leg.buy.mint] })
  const [foreign] = foreignAuthorities(before)
  if (foreign !== undefined) return yield* refuseShared(foreign)
  const missing = missingLamports(before, { ...leg, account })
  const held = {
    sellRaw: associatedRaw(before, account, leg.sell) + missing,
    buyRaw: associatedRaw(before, account, leg.buy)
  }
  return yield* findRoute(
    { place, leg, slippageBps, agent: agent.key },
    Effect.fnUntraced(function* ({ built, checked }) {
      const passed = yield* minimumOfPassed({ ...leg, account }, checked.instruction)
      const prepared = yield* prepare({
        agent: agent.key,
        steps: swapSteps(place, checked, {
          wrapping: wrap(place, missing),
          least: [...minimumOfLeg({ ...leg, account }, held), ...passed]
        }),
        lookupTables: yield* readLookupTables(built.addressesByLookupTableAddress ?? {}),
        tag,
        fees
      })
      return { ...prepared, before, expectedRaw: BigInt(built.outAmount) }
    })
  )
})

const refuseShared = ({ assetId, holder }: ForeignAuthority) =>
  new SwapRefused({
    message:
      `${addressOf(assetId)} is not traded: ${holder} may move it or close its account, which the ` +
      "service never allows. Withdraw it, deposit nothing, and replace the agent's key (docs/solana.md)"
  })

/** What is in the associated account of a token. */
const associatedRaw = ({ tokens }: Holdings, account: PublicKey, { mint, program }: Mint): bigint => {
  const key = associatedAccount(account, mint, program)
  const accounts = tokens.find((token) => token.mint.equals(mint))?.accounts ?? []
  return accounts.find((one) => one.key.equals(key))?.amountRaw ?? 0n
}

/** What must be wrapped before the swap finds all that it sells in the associated account. */
const missingLamports = ({ tokens }: Holdings, { account, sell, sellRaw }: Leg): bigint => {
  const sold = tokens.find(({ mint }) => mint.equals(sell.mint))
  if (sold === undefined || sold.lamports === 0n) return 0n
  const wrapped = sold.accounts.find(({ key }) => key.equals(wrappedAccount(account)))?.amountRaw ?? 0n
  const missing = sellRaw - wrapped
  return missing < sold.lamports ? missing : sold.lamports
}

/** What a landed swap did, by balances before and after it. */
export interface SwapResult {
  readonly soldRaw: bigint
  readonly boughtRaw: bigint
  /** It sold no more than was requested, bought no less than the minimum, and nothing else fell. */
  readonly isAsPlanned: boolean
}

/** Raw units of each token that is held. */
export type Amounts = ReadonlyArray<{ readonly assetId: SplAssetId; readonly raw: bigint }>

export const amountsOf = ({ tokens }: Holdings): Amounts => tokens.map(({ assetId, raw }) => ({ assetId, raw }))

/** What of an asset came, or went. */
const changeOf = (assetId: SplAssetId, before: Amounts, after: Amounts): bigint => {
  const rawOf = (amounts: Amounts) => amounts.find((one) => one.assetId === assetId)?.raw ?? 0n
  return rawOf(after) - rawOf(before)
}

/** The request of a swap. */
interface SwapBounds {
  readonly sell: SplAssetId
  readonly buy: SplAssetId
  readonly sellRaw: bigint
  readonly minBuyRaw: bigint
}

/** Compares what was held. `after` must be read at the slot of the swap or later. */
export const swapResult = (
  { buy, minBuyRaw, sell, sellRaw }: SwapBounds,
  before: Amounts,
  after: Amounts
): SwapResult => {
  const [soldRaw, boughtRaw] = [-changeOf(sell, before, after), changeOf(buy, before, after)]
  const isWhole = before.every(({ assetId }) => assetId === sell || changeOf(assetId, before, after) >= 0n)
  return { soldRaw, boughtRaw, isAsPlanned: soldRaw <= sellRaw && boughtRaw >= minBuyRaw && isWhole }
}
